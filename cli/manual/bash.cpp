// The completion script for bash. It needs no package beside bash itself.
#include <fmt/core.h>

#include "cli/manual/pages.hpp"
#include "saltus/sampler/registry.hpp"

namespace saltus::cli {
namespace {

// `cur` is the word to complete, `prev` the one before it; "--name=value" comes as three words.
constexpr const char* kBashHelpers = R"sh(
# The given words that begin like the current one.
_saltus_words() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
}

_saltus_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$cur")
}

# Built-in models and files.
_saltus_models() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"; compgen -f -- "$cur")
}

# Names that may be joined by + or commas, as in dmala+gwg.
_saltus_samplers() {
  local last=${cur##*[+,]}
  mapfile -t COMPREPLY < <(compgen -P "${cur%"$last"}" -W "$1" -- "$last")
}

# The parameters of the sampler that the line names.
_saltus_settings() {
  local sampler=$1 part i keys=""
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${COMP_WORDS[i]} == --sampler ]]; then
      sampler=${COMP_WORDS[i + 1]}
      [[ $sampler == = ]] && sampler=${COMP_WORDS[i + 2]}
    fi
  done
  for part in ${sampler//+/ }; do
    keys+=" $(_saltus_keys "$part")"
  done
  compopt -o nospace 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -S = -W "$keys" -- "$cur")
}
)sh";

constexpr const char* kBashMain = R"sh(
_saltus() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev="" command="" before=$((COMP_CWORD - 1)) i
  COMPREPLY=()
  [[ $cur == = ]] && cur="" && before=$COMP_CWORD
  [[ ${COMP_WORDS[before]} == = ]] && before=$((before - 1))
  prev=${COMP_WORDS[before]}
  for ((i = 1; i < COMP_CWORD; i++)); do
    _saltus_is_command "${command:+$command }${COMP_WORDS[i]}" || break
    command="${command:+$command }${COMP_WORDS[i]}"
  done
  if [[ $prev != -* && ${COMP_WORDS[before + 1]} == = ]]; then
    return  # KEY=VALUE: the value
  fi
)sh";

// A string within single quotes.
std::string quoted(const std::string& text) {
  std::string safe = "'";
  for (const char c : text) safe += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return safe + "'";
}

std::string keys_of_samplers() {
  std::string text = "_saltus_keys() {\n  case $1 in\n";
  for (const SamplerEntry& sampler : sampler_entries()) {
    text +=
        fmt::format("    {}) echo {} ;;\n", sampler.name, quoted(joined(sampler.parameters, " ")));
  }
  return text + "  esac\n}\n";
}

std::string completing(const ManualOption& option, const ManualPage& page) {
  const std::string words = quoted(joined(known_words(option), " "));
  switch (option.values) {
    case Values::words:
      return "_saltus_words " + words;
    case Values::files:
      return "_saltus_files -f";
    case Values::folders:
      return "_saltus_files -d";
    case Values::models:
      return "_saltus_models " + words;
    case Values::samplers:
      return "_saltus_samplers " + words;
    case Values::settings:
      return "_saltus_settings " + quoted(default_sampler(page));
    case Values::none:
    case Values::anything:
      break;
  }
  return ":";
}

// What the word after an option, an option, and any other word can be.
std::string cases_of(const ManualPage& page, const std::string& command) {
  std::string text = fmt::format("    {})\n      case $prev in\n", quoted(command));
  std::vector<std::string> words;
  for (const ManualOption& option : page.options) {
    words.insert(words.end(), option.names.begin(), option.names.end());
    if (option.values == Values::none) continue;
    text += fmt::format("        {}) {}; return ;;\n", joined(option.names, "|"),
                        completing(option, page));
  }
  text += "      esac\n";
  std::string other = ":";
  if (!page.arguments.empty()) other = completing(page.arguments.front(), page);
  if (!page.commands.empty()) {
    std::vector<std::string> names;
    for (const ManualPage& below : page.commands) names.push_back(below.path.back());
    other = "_saltus_words " + quoted(joined(names, " "));
  }
  return text + fmt::format(
                    "      if [[ $cur == -* ]]; then\n        _saltus_words {}\n      else\n"
                    "        {}\n      fi\n      ;;\n",
                    quoted(joined(words, " ")), other);
}

}  // namespace

std::string bash_completion(const ManualPage& program) {
  std::string commands, cases;
  for (const ManualPage* page : all_pages(program)) {
    const std::string command = page->command();
    if (!command.empty()) commands += (commands.empty() ? "" : " | ") + quoted(command);
    cases += cases_of(*page, command);
  }
  return "# Completion of saltus in bash. 'saltus manual FOLDER' writes this file.\n" +
         std::string(kBashHelpers) + "\n" + keys_of_samplers() +
         "\n_saltus_is_command() {\n  case $1 in\n    " + commands +
         ") return 0 ;;\n  esac\n  return 1\n}\n" + kBashMain + "  case $command in\n" + cases +
         "  esac\n}\ncomplete -F _saltus saltus\n";
}

}  // namespace saltus::cli
