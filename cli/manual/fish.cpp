// The completion script for fish: a line for each option of each command.
#include <fmt/core.h>

#include "cli/manual/pages.hpp"
#include "saltus/sampler/registry.hpp"

namespace saltus::cli {
namespace {

constexpr const char* kFishHelpers = R"sh(
# Whether the line has come to exactly this command.
function __saltus_at
    set -l path
    for word in (commandline -opc)[2..]
        contains -- (string join ' ' -- $path $word) $__saltus_commands
        or break
        set -a path $word
    end
    test "$path" = "$argv"
end

# The parameters of the sampler that the line names.
function __saltus_settings
    set -l sampler (string match -rg -- '--sampler[= ](\S+)' (string join ' ' -- (commandline -opc)))[-1]
    test -n "$sampler"
    or set sampler $argv[1]
    for part in (string split + -- $sampler)
        __saltus_keys $part
    end
end
)sh";

std::string fish_quoted(const std::string& text) {
  std::string safe = "'";
  for (const char c : text)
    safe += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return safe + "'";
}

// "complete -c saltus -n '__saltus_at learn rbm'"
std::string line_start(const ManualPage& page) {
  std::string at = "__saltus_at";
  for (std::size_t i = 1; i < page.path.size(); ++i) at += " " + page.path[i];
  return "complete -c saltus -n '" + at + "'";
}

std::string fish_values(const ManualOption& option, const ManualPage& page) {
  const std::string words = " -a " + fish_quoted(joined(known_words(option), " "));
  switch (option.values) {
    case Values::none:
      return "";
    case Values::files:
      return " -r -F";
    case Values::folders:
      return " -x -a '(__fish_complete_directories)'";
    case Values::models:
      return " -F" + words;
    case Values::words:
    case Values::samplers:
      return " -x" + words;
    case Values::settings:
      return " -x -a '(__saltus_settings " + default_sampler(page) + ")='";
    case Values::anything:
      return " -x";
  }
  return "";
}

std::string fish_option(const ManualOption& option, const ManualPage& page) {
  std::string text = line_start(page);
  for (const std::string& name : option.names) {
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  return text + fish_values(option, page) + " -d " + fish_quoted(option.text) + "\n";
}

std::string fish_page(const ManualPage& page) {
  std::string text;
  for (const ManualPage& command : page.commands) {
    text +=
        line_start(page) + " -a " + command.path.back() + " -d " + fish_quoted(command.text) + "\n";
  }
  for (const ManualOption& argument : page.arguments) {
    if (argument.values != Values::anything) {
      text += line_start(page) + fish_values(argument, page) + "\n";
    }
  }
  for (const ManualOption& option : page.options) text += fish_option(option, page);
  return text;
}

}  // namespace

std::string fish_completion(const ManualPage& program) {
  std::string text = "# Completion of saltus in fish. 'saltus manual FOLDER' writes this file.\n";
  text += "set -g __saltus_commands";
  for (const ManualPage* page : all_pages(program)) {
    if (!page->command().empty()) text += " " + fish_quoted(page->command());
  }
  text += "\n" + std::string(kFishHelpers) + "\nfunction __saltus_keys\n    switch $argv[1]\n";
  for (const SamplerEntry& sampler : sampler_entries()) {
    text += fmt::format("        case {}\n            printf '%s\\n' {}\n", sampler.name,
                        joined(sampler.parameters, " "));
  }
  text += "    end\nend\n\ncomplete -c saltus -f\n";
  for (const ManualPage* page : all_pages(program)) text += fish_page(*page);
  return text;
}

}  // namespace saltus::cli
