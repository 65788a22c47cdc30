// The commands and their options as plain values, read from the parser: what manual pages and
// completion scripts are written from, so that both say what `--help` says.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace saltus::cli {

// What can stand in the place of a value.
enum class Values { none, anything, words, files, folders, models, samplers, settings };

struct ManualOption {
  std::vector<std::string> names;  // "-h", "--help"; of an argument its name alone: "MODEL"
  std::string label;               // of the value: "FILE", "cpu|cuda"; empty for a flag
  std::string text, default_value, topic;
  bool optional_value = false, repeatable = false, required = false;
  Values values = Values::none;
  std::vector<std::string> words;  // where values are words

  const std::string& longest_name() const { return names.back(); }
};

struct ManualPage {
  std::vector<std::string> path;  // {"saltus", "learn", "rbm"}
  std::string text;
  std::vector<ManualOption> options, arguments;
  std::vector<ManualPage> commands;

  std::string name(const std::string& between) const;  // of the path
  std::string command() const;                         // the path without "saltus": "learn rbm"
};

ManualPage read_pages(const CLI::App& program);

// The page and all below it, parents first.
std::vector<const ManualPage*> all_pages(const ManualPage& page);

// The words that `values` stands for: the samplers, or the built-in models.
std::vector<std::string> known_words(const ManualOption& option);

// The sampler whose parameters --set takes where the line names none.
std::string default_sampler(const ManualPage& page);

std::string joined(const std::vector<std::string>& words, const std::string& between);

// One manual page, for man(7).
std::string roff(const ManualPage& page);
// A completion script for all commands.
std::string bash_completion(const ManualPage& program);
std::string zsh_completion(const ManualPage& program);
std::string fish_completion(const ManualPage& program);

}  // namespace saltus::cli
