#include "cli/infill/options.hpp"

#include <fmt/core.h>

#include <fstream>
#include <iostream>

#include "cli/option_checks.hpp"
#include "cli/sample/options.hpp"
#include "saltus/core/error.hpp"

namespace saltus::cli {
namespace {

// Control characters would end up on the terminal; to the model they are blanks.
std::string cleaned(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

std::vector<GappedText> read_sentences(const std::string& name) {
  std::ifstream file;
  if (name != "-") file.open(name);
  std::istream& in = name == "-" ? std::cin : file;
  if (!in) throw FileError("cannot read " + name, false);
  std::vector<GappedText> list;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    const std::string text = cleaned(line);
    if (!text.empty()) list.push_back({text, text, fmt::format("{}, line {}: ", name, number)});
  }
  if (in.bad()) throw FileError("cannot read " + name, false);
  if (list.empty()) throw DataError(name + ": there is no sentence in it");
  return list;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    words.push_back(cleaned(text.substr(at, comma - at)));
    at = comma + 1;
  }
  return words;
}

}  // namespace

InfillOptions::InfillOptions(CLI::App& command) : command_(command) {
  add_input();
  add_sampling();
  add_output();
}

void InfillOptions::add_input() {
  InfillCommand& c = given_;
  command_.add_option("TEXT", text_, "A sentence with [MASK] in its gaps");
  command_.add_option("--file", file_, "Sentences, one a line; - is the standard input")
      ->type_name("FILE");
  command_
      .add_option("--mask-fraction", mask_fraction_,
                  "Blank this part of the words of a text without gaps, at random")
      ->type_name("0..1")
      ->check(finite_number(1e-9));
  command_
      .add_option("--model", c.model,
                  "Folder with a BERT: config.json, vocab.txt, model.safetensors (default: the "
                  "small one that comes with the program)")
      ->type_name("DIR");
  command_.add_option("--device", device_, "Where the model is computed")
      ->capture_default_str()
      ->type_name("cpu|cuda");
  command_.add_flag("--allow-special", c.request.allowed.special,
                    "Let gaps be filled with [UNK], [SEP] and their like");
  command_.add_flag("--allow-continuations", c.request.allowed.continuations,
                    "Let gaps be filled with pieces that go on the word before them");
}

void InfillOptions::add_sampling() {
  InfillRequest& r = given_.request;
  command_.add_option("--sampler", r.sampler, "What moves the chains")
      ->capture_default_str()
      ->type_name("")
      ->check(CLI::IsMember({"dmala", "dula", "gwg", "gibbs"}));
  command_
      .add_option("--set", set_, "Sampler parameter KEY=VALUE, repeatable; step_size=0.2, for one")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command_.add_option("--chains", r.chains, "Chains, each of which ends in a completion")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
  command_.add_option("--steps", r.steps, "Steps of each chain")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, kMostSteps));
  command_
      .add_option("--warmup", r.warmup,
                  "Steps before these in which the step size is tuned, where it is")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, kMostSteps));
  command_.add_option("--seed", seed_, "Random seed, 0 to 2^64 - 1")->capture_default_str();
  command_
      .add_option("--threads", r.threads,
                  "Threads (default: all cores); never changes a completion")
      ->check(CLI::Range(1, 4096));
}

void InfillOptions::add_output() {
  InfillCommand& c = given_;
  command_.add_option("--top", c.top, "Completions to print, the best first")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
  command_.add_flag("--all", c.all, "Print the completion of every chain");
  command_.add_flag("--json", c.json, "Print JSON, and nothing else");
  command_
      .add_option("--score", score_,
                  "Sample nothing: the energy of these words in the gaps, and its gradient")
      ->type_name("WORD,WORD,...");
}

std::vector<GappedText> InfillOptions::sentences() const {
  if (text_.empty() == file_.empty()) {
    throw UsageError(text_.empty()
                         ? "give a TEXT with [MASK] in its gaps, or --file FILE with one a line"
                         : "give a TEXT or --file FILE, not both");
  }
  if (!file_.empty()) return read_sentences(file_);
  const std::string text = cleaned(text_);
  return {{text, text, ""}};
}

InfillCommand InfillOptions::complete() const {
  InfillCommand c = given_;
  InfillRequest& r = c.request;
  r.seed = parse_seed(seed_);
  c.device = {parse_device(device_), {}};
  r.settings = parse_settings(set_);
  if (r.sampler == "gibbs" && !r.settings.empty()) {
    throw UsageError("--set " + set_[0] + ": the sampler gibbs has no parameters here");
  }
  if (mask_fraction_ > 1) throw UsageError("--mask-fraction must be at most 1");
  const bool scoring = was_given(command_, "--score");
  if (scoring && (!file_.empty() || mask_fraction_ > 0)) {
    throw UsageError("--score takes a TEXT with [MASK] in its gaps, and no " +
                     std::string(file_.empty() ? "--mask-fraction" : "--file"));
  }
  c.from_file = !file_.empty();
  c.sentences = sentences();
  if (mask_fraction_ > 0) {
    std::uint32_t number = 0;
    for (GappedText& s : c.sentences) blank_words(s, mask_fraction_, r.seed, number++);
  }
  if (scoring) c.score = split(score_);
  return c;
}

}  // namespace saltus::cli
