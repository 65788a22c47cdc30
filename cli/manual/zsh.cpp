// The completion script for zsh: a function for each command.
#include <fmt/core.h>

#include "cli/manual/pages.hpp"
#include "saltus/sampler/registry.hpp"

namespace saltus::cli {
namespace {

constexpr const char* kZshHelpers = R"sh(
# Built-in models and files.
__saltus_models() {
  _alternative "models:model:($1)" 'files:file:_files'
}

# Names that may be joined by + or commas, as in dmala+gwg.
__saltus_samplers() {
  compset -P '*[+,]'
  compadd -S '' -- ${=1}
}

# The parameters of the sampler that the line names.
__saltus_settings() {
  local sampler=${${(M)words:#--sampler=*}[-1]#--sampler=}
  local place=${words[(I)--sampler]} part
  (( place )) && sampler=$words[place+1]
  for part in ${(s:+:)${sampler:-$1}}; do
    compadd -S = -- ${=__saltus_keys[$part]}
  done
}

__saltus_dispatch() {
  local next=$1_$words[2]
  shift words
  (( CURRENT-- ))
  (( $+functions[$next] )) && $next
}
)sh";

// Text within single quotes that _arguments and _describe take literally.
std::string zsh_text(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\'') {
      safe += "'\\''";
    } else if (c == '[' || c == ']' || c == ':' || c == '\\') {
      safe += std::string("\\") + c;
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string action(const ManualOption& option, const ManualPage& page) {
  const std::string words = joined(known_words(option), " ");
  switch (option.values) {
    case Values::words:
      return "(" + words + ")";
    case Values::files:
      return "_files";
    case Values::folders:
      return "_files -/";
    case Values::models:
      return "{__saltus_models \"" + words + "\"}";
    case Values::samplers:
      return "{__saltus_samplers \"" + words + "\"}";
    case Values::settings:
      return "{__saltus_settings " + default_sampler(page) + "}";
    case Values::none:
    case Values::anything:
      break;
  }
  return " ";
}

std::string zsh_option(const ManualOption& option, const ManualPage& page) {
  const std::string between = option.optional_value ? "::" : ":";
  std::string text;
  for (const std::string& name : option.names) {
    text += fmt::format(" \\\n    '{}{}{}[{}]", option.repeatable ? "*" : "", name,
                        option.label.empty() || !name.starts_with("--") ? "" : "=",
                        zsh_text(option.text));
    if (!option.label.empty())
      text += between + zsh_text(option.label) + ":" + action(option, page);
    text += "'";
  }
  return text;
}

std::string zsh_argument(const ManualOption& argument, const ManualPage& page) {
  const std::string place = argument.repeatable ? "*:" : argument.required ? ":" : "::";
  return " \\\n    '" + place + zsh_text(argument.longest_name()) + ":" + action(argument, page) +
         "'";
}

std::string zsh_function(const ManualPage& page) {
  const std::string name = "_" + page.name("_");
  std::string arguments = "  _arguments -S";
  for (const ManualOption& option : page.options) arguments += zsh_option(option, page);
  if (page.commands.empty()) {
    for (const ManualOption& argument : page.arguments) arguments += zsh_argument(argument, page);
    return name + "() {\n" + arguments + "\n}\n\n";
  }
  std::string commands;
  for (const ManualPage& command : page.commands) {
    commands += "      '" + command.path.back() + ":" + zsh_text(command.text) + "'\n";
  }
  return fmt::format(
      "{0}() {{\n  if (( CURRENT > 2 )); then\n    __saltus_dispatch {0}\n    return\n  fi\n"
      "  local -a commands=(\n{1}  )\n  _describe command commands\n{2}\n}}\n\n",
      name, commands, arguments);
}

}  // namespace

std::string zsh_completion(const ManualPage& program) {
  std::string text =
      "#compdef saltus\n# Completion of saltus in zsh. 'saltus manual FOLDER' writes this file.\n";
  text += "\ntypeset -gA __saltus_keys=(\n";
  for (const SamplerEntry& sampler : sampler_entries()) {
    text += fmt::format("  {} '{}'\n", sampler.name, joined(sampler.parameters, " "));
  }
  text += ")\n" + std::string(kZshHelpers) + "\n";
  for (const ManualPage* page : all_pages(program)) text += zsh_function(*page);
  return text + "_saltus \"$@\"\n";
}

}  // namespace saltus::cli
