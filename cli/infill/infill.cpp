// saltus infill: words for the gaps of a sentence, by a masked language model.
#include "saltus/infill.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>

#include "cli/commands.hpp"
#include "cli/infill/sentence.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "saltus/core/error.hpp"
#include "saltus/version.hpp"

namespace saltus::cli {
namespace {

struct InfillCommand {
  std::string model;  // a folder; empty: the model that comes with the program
  DeviceChoice device;
  InfillRequest request;  // without the text
  int top = 5;
  bool all = false, json = false;

  std::vector<GappedText> sentences;
  bool from_file = false;
  std::vector<std::string> score;  // words for the gaps; empty: sample
};

struct Infilled {
  const InfillCommand& command;
  const GappedText& sentence;
  const BertFiles& bert;
  const InfillResult& result;
};

// ---- Options

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

// Binds the options of 'saltus infill' to the command.
class InfillOptions {
 public:
  explicit InfillOptions(CLI::App& command) : command_(command) {
    add_input();
    add_sampling();
    add_output();
  }

  // Checks what was given and reads the sentences. Throws UsageError, DataError, FileError.
  InfillCommand complete() const {
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
    if (scoring) {
      for (const std::string& word : split_list(score_)) c.score.push_back(cleaned(word));
    }
    return c;
  }

 private:
  void add_input() {
    InfillCommand& c = given_;
    command_.add_option("TEXT", text_, "A sentence with [MASK] in its gaps");
    add_typed(command_, "--file", file_, "Sentences, one a line; - is the standard input", "FILE");
    add_typed(command_, "--mask-fraction", mask_fraction_,
              "Blank this part of the words of a text without gaps, at random", "0..1")
        ->check(finite_number(1e-9));
    add_typed(command_, "--model", c.model,
              "Folder with a BERT: config.json, vocab.txt, model.safetensors (default: the small "
              "one that comes with the program)",
              "DIR");
    add_default(command_, "--device", device_, "Where the model is computed")
        ->type_name("cpu|cuda");
    command_.add_flag("--allow-special", c.request.allowed.special,
                      "Let gaps be filled with [UNK], [SEP] and their like");
    command_.add_flag("--allow-continuations", c.request.allowed.continuations,
                      "Let gaps be filled with pieces that go on the word before them");
  }

  void add_sampling() {
    InfillRequest& r = given_.request;
    add_default(command_, "--sampler", r.sampler, "What moves the chains",
                CLI::IsMember({"dmala", "dula", "gwg", "gibbs"}))
        ->type_name("");
    add_settings(command_, set_, "; step_size=0.2, for one");
    add_default(command_, "--chains", r.chains, "Chains, each of which ends in a completion",
                whole_number(1, 1'000'000));
    add_default(command_, "--steps", r.steps, "Steps of each chain", steps_from(1));
    add_default(command_, "--warmup", r.warmup,
                "Steps before these in which the step size is tuned, where it is", steps_from(1));
    add_seed(command_, seed_);
    add_threads(command_, r.threads, "a completion");
  }

  void add_output() {
    InfillCommand& c = given_;
    add_default(command_, "--top", c.top, "Completions to print, the best first",
                whole_number(1, 1'000'000));
    command_.add_flag("--all", c.all, "Print the completion of every chain");
    command_.add_flag("--json", c.json, "Print JSON, and nothing else");
    add_typed(command_, "--score", score_,
              "Sample nothing: the energy of these words in the gaps, and its gradient",
              "WORD,WORD,...");
  }

  std::vector<GappedText> sentences() const {
    if (text_.empty() == file_.empty()) {
      throw UsageError(text_.empty()
                           ? "give a TEXT with [MASK] in its gaps, or --file FILE with one a line"
                           : "give a TEXT or --file FILE, not both");
    }
    if (!file_.empty()) return read_sentences(file_);
    const std::string text = cleaned(text_);
    return {{text, text, ""}};
  }

  CLI::App& command_;
  InfillCommand given_;
  std::vector<std::string> set_;
  std::string text_, file_, seed_ = "1", device_ = "cpu", score_;
  double mask_fraction_ = 0;
};

// ---- What it prints

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double v : values) list.push_back(json_number(v));
  return list;
}

Json completion_json(const GappedText& sentence, const Completion& c) {
  return {{"text", filled(sentence.text, c.words)},
          {"words", c.words},
          {"energy", json_number(c.energy)},
          {"log_f", numbers(c.log_f)}};
}

std::string sampler_text(const Infilled& r) {
  std::string text = parameters_text(r.result.parameters, {"adapt", "distance"});
  if (r.result.tuned) text += fmt::format(", tuned in {} warm-up steps", r.command.request.warmup);
  return r.command.request.sampler + (text.empty() ? "" : " (" + text + ")");
}

void print_head(const Infilled& r) {
  const auto row = [](const char* name, const std::string& value) { show_row(name, value, 9); };
  const BertConfig& c = r.bert.config;
  row("model",
      fmt::format("{}, {} layers of width {}, {} word pieces, {} of them for gaps", r.bert.name,
                  c.layers, c.hidden, count(c.vocabulary), with_commas(r.result.allowed)));
  row("sampler", sampler_text(r));
  row("run", fmt::format("{} chains x {} steps, seed {}", r.command.request.chains,
                         r.command.request.steps, r.command.request.seed));
}

void print_completions(const Infilled& r) {
  const Marking marking = marking_for_stdout();
  const auto line = [&](const std::string& chains, const Completion& c) {
    show_marked(fmt::format("{:>9.3f}  {:>6}  {}\n", c.energy, chains,
                            filled(r.sentence.text, c.words, marking)));
  };
  const std::vector<Completion>& list = r.result.distinct;
  show("\n{}\n", r.sentence.text);
  if (r.command.all) {
    show("{:>9}  {:>6}\n", "U", "chain");
    for (const Completion& c : r.result.chains) line(std::to_string(c.chains[0]), c);
  } else {
    show("{:>9}  {:>6}\n", "U", "chains");
    const std::size_t count = std::min(list.size(), static_cast<std::size_t>(r.command.top));
    for (std::size_t k = 0; k < count; ++k) line(std::to_string(list[k].chains.size()), list[k]);
  }
  show("{} distinct completions of {} chains; ", list.size(), r.result.chains.size());
  if (r.result.exact) show("acceptance {:.3f}, ", r.result.statistics.acceptance);
  const std::size_t gaps = r.result.chains[0].words.size();
  show("{:.2f} of {} gap{} changed per step, {}\n", r.result.statistics.changed, gaps,
       gaps == 1 ? "" : "s", duration(r.result.statistics.seconds));
}

Json infilled_json(const Infilled& r) {
  const std::vector<Completion>& list = r.result.distinct;
  Json j;
  j["text"] = r.sentence.text;
  if (r.sentence.given != r.sentence.text) j["given"] = r.sentence.given;
  j["model"] = r.bert.name;
  j["gaps"] = r.result.chains[0].words.size();
  j["allowed_pieces"] = r.result.allowed;
  j["sampler"] = r.command.request.sampler;
  j["parameters"] = parameters_json(r.result.parameters);
  j["chains"] = r.command.request.chains;
  j["warmup"] = r.result.tuned ? r.command.request.warmup : 0;
  j["steps"] = r.command.request.steps;
  j["seed"] = r.command.request.seed;
  j["device"] = r.command.device.device == Device::cuda ? "cuda" : "cpu";
  j["acceptance_rate"] = json_number(r.result.statistics.acceptance);
  j["changes"] = json_number(r.result.statistics.changed);
  j["seconds"] = json_number(r.result.statistics.seconds);
  j["distinct"] = list.size();
  j["completions"] = Json::array();
  for (const Completion& c : list) {
    if (j["completions"].size() == static_cast<std::size_t>(r.command.top)) break;
    Json entry = completion_json(r.sentence, c);
    entry["chains"] = c.chains.size();
    j["completions"].push_back(std::move(entry));
  }
  if (r.command.all) {
    j["all"] = Json::array();
    for (const Completion& c : r.result.chains) j["all"].push_back(completion_json(r.sentence, c));
  }
  j["version"] = version();
  return j;
}

void print_scored(const GappedText& sentence, const BertFiles& bert, const InfillScore& r) {
  const auto row = [](const char* name, const std::string& value) { show_row(name, value, 10); };
  row("model", bert.name);
  row("text", filled(sentence.text, r.completion.words, marking_for_stdout()));
  row("input ids", fmt::format("{}", fmt::join(r.problem.ids, " ")));
  row("energy", fmt::format("{:.6f}", r.completion.energy));
  show("\n{:>8}  {:<16}  {:>11}  {:>13}  {:>12}  at\n", "position", "word", "log f",
       "gradient norm", "maximum");
  for (std::size_t i = 0; i < r.gradient.size(); ++i) {
    const InfillScore::GradientRow& g = r.gradient[i];
    show("{:>8}  {:<16}  {:>11.6f}  {:>13.3f}  {:>12.6f}  {} ({})\n", r.problem.gaps[i],
         r.completion.words[i], r.completion.log_f[i], g.norm, g.largest,
         bert.pieces->piece(g.where), g.where);
  }
}

Json scored_json(const GappedText& sentence, const BertFiles& bert, const InfillScore& r) {
  Json j;
  j["text"] = sentence.text;
  j["model"] = bert.name;
  j["input_ids"] = r.problem.ids;
  j["mask_positions"] = r.problem.gaps;
  j["fill"] = r.completion.words;
  j["energy"] = json_number(r.completion.energy);
  j["log_f"] = numbers(r.completion.log_f);
  for (const char* name : {"grad_norm", "grad_max", "grad_argmax"}) j[name] = Json::array();
  for (const InfillScore::GradientRow& g : r.gradient) {
    j["grad_norm"].push_back(json_number(g.norm));
    j["grad_max"].push_back(json_number(g.largest));
    j["grad_argmax"].push_back(g.where);
  }
  j["version"] = version();
  return j;
}

// ---- The command

// What is wrong with any of the sentences is said before the first one is worked on.
void check_sentences(const Infiller& infiller, const InfillCommand& command) {
  for (const GappedText& s : command.sentences) {
    try {
      infiller.problem(s.text);
    } catch (const DataError& e) {
      throw DataError(s.where + e.what());
    }
  }
}

int score(Infiller& infiller, const InfillCommand& command) {
  const GappedText& sentence = command.sentences[0];
  try {
    infiller.ids_of(infiller.problem(sentence.text), command.score);
  } catch (const UsageError& e) {
    throw UsageError(std::string("--score: ") + e.what());
  }
  const InfillScore scored = infiller.score(sentence.text, command.score);
  command.json ? show_json(scored_json(sentence, infiller.bert(), scored))
               : print_scored(sentence, infiller.bert(), scored);
  return ok;
}

int fill(Infiller& infiller, const InfillCommand& command) {
  auto list = Json::array();
  for (const GappedText& sentence : command.sentences) {
    InfillRequest request = command.request;
    request.text = sentence.text;
    std::optional<Progress> progress(std::in_place);
    const InfillResult result =
        infiller.fill(request, [&](const RunStatus& status) { return progress->update(status); });
    progress.reset();
    if (!result.complete) return 128 + signal_seen();
    const Infilled filled{command, sentence, infiller.bert(), result};
    if (command.json) {
      list.push_back(infilled_json(filled));
      continue;
    }
    if (&sentence == &command.sentences[0]) print_head(filled);
    print_completions(filled);
    std::fflush(stdout);
  }
  if (command.json) show_json(command.from_file ? list : list[0]);
  return ok;
}

int infill(const InfillCommand& command) {
  Infiller infiller(command.model.empty() ? default_bert() : load_bert(command.model),
                    command.device);
  check_sentences(infiller, command);
  return command.score.empty() ? fill(infiller, command) : score(infiller, command);
}

}  // namespace

void add_infill(CLI::App& program, int& status) {
  CLI::App* command =
      program.add_subcommand("infill", "Fill the gaps of a sentence by a masked language model");
  auto options = std::make_shared<InfillOptions>(*command);
  command->callback([options, &status] { status = infill(options->complete()); });
}

}  // namespace saltus::cli
