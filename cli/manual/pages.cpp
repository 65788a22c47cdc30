#include "cli/manual/pages.hpp"

#include <algorithm>

#include "cli/help.hpp"
#include "saltus/io/model_file.hpp"
#include "saltus/sampler/registry.hpp"

namespace saltus::cli {
namespace {

// "auto|N": the words among the alternatives. Capitals stand for values.
std::vector<std::string> words_of(const std::string& label) {
  std::vector<std::string> words;
  for (const std::string& word : CLI::detail::split(label, '|')) {
    const bool literal = std::ranges::all_of(
        word, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
    if (literal && !word.empty()) words.push_back(word);
  }
  return label.find('|') == std::string::npos ? std::vector<std::string>{} : words;
}

Values kind_of_value(const std::string& name, const ManualOption& option) {
  if (option.label.empty()) return Values::none;
  if (name == "--sampler" || name == "--samplers") return Values::samplers;
  if (name == "--set") return Values::settings;
  if (name == "MODEL" || name == "IN") return Values::models;
  if (!option.words.empty()) return Values::words;
  if (option.label == "DIR") return Values::folders;
  if (option.label == "FILE" || name == "--init" || name == "OUT" || name == "FILE") {
    return Values::files;
  }
  return Values::anything;
}

ManualOption manual_option(const CLI::Option& option) {
  ManualOption made;
  for (const std::string& name : option.get_snames()) made.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) made.names.push_back("--" + name);
  if (option.get_positional()) made.names = {option.get_name(true)};
  made.text = option.get_description();
  made.required = option.get_required();
  made.topic = option.get_group();
  if (option.get_expected_max() != 0) {  // no flag
    made.label = readable_type(option.get_type_name());
    if (made.label.empty()) made.label = "VALUE";
    made.default_value = option.get_default_str();
    made.optional_value = option.get_expected_min() == 0;
    made.repeatable = option.get_expected_max() == CLI::detail::expected_max_vector_size;
    made.words = words_of(made.label);
  }
  made.values = kind_of_value(made.longest_name(), made);
  return made;
}

ManualPage page_of(const CLI::App& app, std::vector<std::string> path) {
  path.push_back(app.get_name());
  ManualPage page{path, app.get_description(), {}, {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    auto& list = option->get_positional() ? page.arguments : page.options;
    list.push_back(manual_option(*option));
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) page.commands.push_back(page_of(*command, path));
  }
  return page;
}

}  // namespace

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

std::string ManualPage::name(const std::string& between) const {
  return joined(path, between);
}

std::string ManualPage::command() const {
  return joined({path.begin() + 1, path.end()}, " ");
}

ManualPage read_pages(const CLI::App& program) {
  return page_of(program, {});
}

std::vector<const ManualPage*> all_pages(const ManualPage& page) {
  std::vector<const ManualPage*> pages{&page};
  for (const ManualPage& command : page.commands) {
    for (const ManualPage* below : all_pages(command)) pages.push_back(below);
  }
  return pages;
}

std::string default_sampler(const ManualPage& page) {
  for (const ManualOption& option : page.options) {
    if (option.longest_name() == "--sampler") return option.default_value;
  }
  return "dmala";
}

std::vector<std::string> known_words(const ManualOption& option) {
  std::vector<std::string> words = option.words;
  if (option.values == Values::models) {
    for (const BuiltInModel& model : built_in_models()) words.push_back(model.name);
  }
  if (option.values == Values::samplers) {
    for (const SamplerEntry& sampler : sampler_entries()) words.push_back(sampler.name);
    words.emplace_back(option.longest_name() == "--samplers" ? "all" : "auto");
  }
  return words;
}

}  // namespace saltus::cli
