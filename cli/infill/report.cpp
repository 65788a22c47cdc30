#include "cli/infill/report.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "saltus/version.hpp"

namespace saltus::cli {
namespace {

using Json = nlohmann::ordered_json;

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

}  // namespace

void print_head(const Infilled& r) {
  const auto row = [](const char* name, const std::string& value) { show_row(name, value, 9); };
  const BertConfig& c = r.bert.config;
  row("model",
      fmt::format("{}, {} layers of width {}, {} word pieces, {} of them for gaps", r.bert.name,
                  c.layers, c.hidden, with_commas(static_cast<std::uint64_t>(c.vocabulary)),
                  with_commas(r.result.allowed)));
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

}  // namespace saltus::cli
