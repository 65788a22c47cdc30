#include "cli/infill/report.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

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
  std::string text;
  for (const Parameter& p : r.parameters) {
    if (p.name == "adapt" || p.name == "distance") continue;
    text += (text.empty() ? "" : ", ") + parameter_text(p);
  }
  if (r.tuned) text += fmt::format(", tuned in {} warm-up steps", r.request.warmup);
  return r.request.sampler + (text.empty() ? "" : " (" + text + ")");
}

}  // namespace

std::vector<Completion> distinct(const std::vector<Completion>& of_chains) {
  std::map<std::vector<std::string>, Completion> found;
  for (const Completion& c : of_chains) {
    Completion& same = found.emplace(c.words, c).first->second;
    if (same.chains != c.chains) {
      same.chains.insert(same.chains.end(), c.chains.begin(), c.chains.end());
    }
  }
  std::vector<Completion> list;
  for (auto& [words, completion] : found) list.push_back(std::move(completion));
  std::stable_sort(list.begin(), list.end(),
                   [](const Completion& a, const Completion& b) { return a.energy > b.energy; });
  return list;
}

void print_head(const Infilled& r) {
  const auto row = [](const char* name, const std::string& value) {
    show("{:<9} {}\n", name, value);
  };
  const BertConfig& c = r.bert.config;
  row("model",
      fmt::format("{}, {} layers of width {}, {} word pieces, {} of them for gaps", r.bert.name,
                  c.layers, c.hidden, with_commas(static_cast<std::uint64_t>(c.vocabulary)),
                  with_commas(r.allowed)));
  row("sampler", sampler_text(r));
  row("run", fmt::format("{} chains x {} steps, seed {}", r.request.chains, r.request.steps,
                         r.request.seed));
}

void print_completions(const Infilled& r) {
  const Marking marking = marking_for_stdout();
  const auto line = [&](const std::string& chains, const Completion& c) {
    show_marked(fmt::format("{:>9.3f}  {:>6}  {}\n", c.energy, chains,
                            filled(r.sentence.text, c.words, marking)));
  };
  const std::vector<Completion> list = distinct(r.chains);
  show("\n{}\n", r.sentence.text);
  if (r.request.all) {
    show("{:>9}  {:>6}\n", "U", "chain");
    for (const Completion& c : r.chains) line(std::to_string(c.chains[0]), c);
  } else {
    show("{:>9}  {:>6}\n", "U", "chains");
    const std::size_t count = std::min(list.size(), static_cast<std::size_t>(r.request.top));
    for (std::size_t k = 0; k < count; ++k) line(std::to_string(list[k].chains.size()), list[k]);
  }
  show("{} distinct completions of {} chains; ", list.size(), r.chains.size());
  if (r.exact) show("acceptance {:.3f}, ", r.statistics.acceptance);
  const std::size_t gaps = r.chains[0].words.size();
  show("{:.2f} of {} gap{} changed per step, {}\n", r.statistics.changed, gaps,
       gaps == 1 ? "" : "s", duration(r.statistics.seconds));
}

Json infilled_json(const Infilled& r) {
  const std::vector<Completion> list = distinct(r.chains);
  Json j;
  j["text"] = r.sentence.text;
  if (r.sentence.given != r.sentence.text) j["given"] = r.sentence.given;
  j["model"] = r.bert.name;
  j["gaps"] = r.chains[0].words.size();
  j["allowed_pieces"] = r.allowed;
  j["sampler"] = r.request.sampler;
  j["parameters"] = parameters_json(r.parameters);
  j["chains"] = r.request.chains;
  j["warmup"] = r.tuned ? r.request.warmup : 0;
  j["steps"] = r.request.steps;
  j["seed"] = r.request.seed;
  j["device"] = r.request.device.device == Device::cuda ? "cuda" : "cpu";
  j["acceptance_rate"] = json_number(r.statistics.acceptance);
  j["changes"] = json_number(r.statistics.changed);
  j["seconds"] = json_number(r.statistics.seconds);
  j["distinct"] = list.size();
  j["completions"] = Json::array();
  for (const Completion& c : list) {
    if (j["completions"].size() == static_cast<std::size_t>(r.request.top)) break;
    Json entry = completion_json(r.sentence, c);
    entry["chains"] = c.chains.size();
    j["completions"].push_back(std::move(entry));
  }
  if (r.request.all) {
    j["all"] = Json::array();
    for (const Completion& c : r.chains) j["all"].push_back(completion_json(r.sentence, c));
  }
  j["version"] = version();
  return j;
}

void print_scored(const Scored& r) {
  const auto row = [](const char* name, const std::string& value) {
    show("{:<10} {}\n", name, value);
  };
  row("model", r.bert.name);
  row("text", filled(r.sentence.text, r.completion.words, marking_for_stdout()));
  row("input ids", fmt::format("{}", fmt::join(r.problem.ids, " ")));
  row("energy", fmt::format("{:.6f}", r.completion.energy));
  show("\n{:>8}  {:<16}  {:>11}  {:>13}  {:>12}  at\n", "position", "word", "log f",
       "gradient norm", "maximum");
  for (std::size_t i = 0; i < r.gradient.size(); ++i) {
    const Scored::GradientRow& g = r.gradient[i];
    show("{:>8}  {:<16}  {:>11.6f}  {:>13.3f}  {:>12.6f}  {} ({})\n", r.problem.gaps[i],
         r.completion.words[i], r.completion.log_f[i], g.norm, g.largest,
         r.bert.pieces->piece(g.where), g.where);
  }
}

Json scored_json(const Scored& r) {
  Json j;
  j["text"] = r.sentence.text;
  j["model"] = r.bert.name;
  j["input_ids"] = r.problem.ids;
  j["mask_positions"] = r.problem.gaps;
  j["fill"] = r.completion.words;
  j["energy"] = json_number(r.completion.energy);
  j["log_f"] = numbers(r.completion.log_f);
  for (const char* name : {"grad_norm", "grad_max", "grad_argmax"}) j[name] = Json::array();
  for (const Scored::GradientRow& g : r.gradient) {
    j["grad_norm"].push_back(json_number(g.norm));
    j["grad_max"].push_back(json_number(g.largest));
    j["grad_argmax"].push_back(g.where);
  }
  j["version"] = version();
  return j;
}

}  // namespace saltus::cli
