#include "cli/guidance.hpp"

#include <algorithm>

#include "core/closest_name.hpp"
#include "saltus/core/error.hpp"

namespace saltus::cli {
namespace {

using Words = std::vector<std::string>;

Words commands_of(const CLI::App& app) {
  Words names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

Words options_of(const CLI::App& app) {
  Words names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// 'saltus', or 'saltus learn rbm'.
std::string full_name(const CLI::App& app) {
  return (app.get_parent() ? full_name(*app.get_parent()) + " " : "") + app.get_name();
}

// The command that the first words name, as far as they are no options.
const CLI::App& named_command(const CLI::App& program, const Words& words) {
  const CLI::App* app = &program;
  for (const std::string& word : words) {
    const Words names = commands_of(*app);
    if (names.empty() || word.starts_with("-")) break;
    if (std::ranges::find(names, word) == names.end()) {
      throw UsageError("there is no command '" + full_name(*app) + " " + word + "'" +
                       did_you_mean(word, names) + " (" + full_name(*app) +
                       " --help lists the commands)");
    }
    app = app->get_subcommand(word);
  }
  return *app;
}

}  // namespace

std::string asked_help(const CLI::App& program, const Words& words) {
  const bool help = !words.empty() && words.front() == "help";
  const Words named(words.begin() + help, words.end());
  const CLI::App& command = named_command(program, named);
  const bool ends_early =
      !commands_of(command).empty() && (named.empty() || named.back() == command.get_name());
  if (!help && !ends_early) return "";
  return command.help(command.get_parent() ? full_name(*command.get_parent()) : "");
}

std::string unexpected_word(const CLI::App& program) {
  const CLI::App* app = &program;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  const Words left = app->remaining();
  const std::string word = left.empty() ? "" : left.front();
  if (!word.starts_with("-")) return full_name(*app) + ": the word '" + word + "' was not expected";
  const std::string name = word.substr(0, word.find('='));
  return full_name(*app) + " has no option " + name + did_you_mean(name, options_of(*app)) + " (" +
         full_name(*app) + " --help lists them)";
}

}  // namespace saltus::cli
