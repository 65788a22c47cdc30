#include "saltus/infill.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

RowBuffer<Symbol> states_of(const Run& run, int dim) {
  RowBuffer<Symbol> x(run.plan().chains, dim);
  for (int c = 0; c < run.plan().chains; ++c) std::copy_n(run.state(c), dim, x.view()[c]);
  return x;
}

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

std::vector<InfillScore::GradientRow> gradient_rows(const InfillTarget& target,
                                                    Rows<const Symbol> x) {
  const Domain& domain = target.domain();
  const RowBuffer<float> score(1, domain.score_size());
  Scratch scratch;
  double logp = 0;
  target.evaluate({0, 0, scratch}, x, &logp, score.view());
  std::vector<InfillScore::GradientRow> rows;
  for (int i = 0; i < domain.dim(); ++i) {
    const float* g = score.view()[0] + domain.score_begin(i);
    const float* largest = std::max_element(g, g + domain.levels(i));
    double squares = 0;
    for (int k = 0; k < domain.levels(i); ++k) squares += double{g[k]} * double{g[k]};
    rows.push_back({std::sqrt(squares), double{*largest},
                    target.allowed()[static_cast<std::size_t>(largest - g)]});
  }
  return rows;
}

std::unique_ptr<Sampler> sampler_of(const InfillRequest& request, const InfillTarget& target) {
  // The conditional law of U itself would take an evaluation for every piece.
  if (request.sampler != "gibbs") {
    // Chains of some fifty steps tune no number of flips.
    Settings settings = request.settings;
    if (request.sampler == "gwg" && !settings.contains("adapt")) settings.try_emplace("flips", "1");
    return make_sampler(request.sampler, target, settings);
  }
  if (!request.settings.empty()) {
    throw UsageError(request.settings.begin()->first +
                     ": the sampler gibbs has no parameters here");
  }
  return make_conditional_gibbs(target);
}

}  // namespace

std::unique_ptr<InfillTarget> Infiller::target_of(const InfillProblem& problem,
                                                  const AllowedPieces& allowed) {
  const TorchModule& module = torch_module("filling gaps");
  if (!model_) model_ = module.load_masked_model(bert_, device_);
  return module.infill(model_, problem, allowed);
}

std::int32_t Infiller::id_of(const std::string& word) const {
  const WordPieces& pieces = *bert_.pieces;
  if (const std::int32_t id = pieces.id(word); id >= 0) return id;
  const std::vector<std::int32_t> ids = pieces.encode(word);
  if (ids.size() == 1 && ids[0] != pieces.unknown()) return ids[0];
  std::string parts;
  for (const std::int32_t id : ids) parts += (parts.empty() ? "" : " ") + pieces.piece(id);
  throw UsageError(
      fmt::format("'{}' is not one piece of the vocabulary of {}{}", word, bert_.name,
                  ids.size() > 1 ? fmt::format(", but {} ({})", ids.size(), parts) : ""));
}

std::vector<std::int32_t> Infiller::ids_of(const InfillProblem& problem,
                                           const std::vector<std::string>& words) const {
  const std::size_t gaps = problem.gaps.size();
  if (words.size() != gaps) {
    throw UsageError(fmt::format("there {} {} word{}, but the text has {} gap{}",
                                 words.size() == 1 ? "is" : "are", words.size(),
                                 words.size() == 1 ? "" : "s", gaps, gaps == 1 ? "" : "s"));
  }
  std::vector<std::int32_t> ids;
  for (const std::string& word : words) ids.push_back(id_of(word));
  return ids;
}

std::vector<Completion> Infiller::completions(const InfillTarget& target,
                                              Rows<const Symbol> x) const {
  const RowBuffer<double> terms(x.rows, x.cols);
  Scratch scratch;
  target.terms({0, 0, scratch}, x, terms.view());
  std::vector<Completion> list;
  for (int r = 0; r < x.rows; ++r) {
    Completion c;
    for (int i = 0; i < x.cols; ++i) {
      c.words.push_back(bert_.pieces->piece(target.allowed()[x[r][i]]));
      c.log_f.push_back(terms.view()[r][i]);
      c.energy += terms.view()[r][i];
    }
    c.chains = {r};
    list.push_back(std::move(c));
  }
  return list;
}

InfillResult Infiller::fill(const InfillRequest& request, const InfillProgress& progress) {
  const auto target = target_of(problem(request.text), request.allowed);
  std::unique_ptr<Sampler> sampler = sampler_of(request, *target);
  InfillResult result;
  result.allowed = target->allowed().size();
  result.tuned = sampler->tunable() != nullptr;
  result.exact = sampler->exact();
  RunPlan plan;
  plan.chains = request.chains;
  plan.warmup = result.tuned ? request.warmup : 0;
  plan.draws = request.steps;
  plan.seed = request.seed;
  plan.threads = request.threads;
  Run run(*target, std::move(sampler), plan);
  run.start(draw_from_marginals(*target, plan.chains, plan.seed).view());
  result.complete = run.go(progress);
  result.statistics = run.statistics();
  result.parameters = run.sampler().parameters();
  if (!result.complete) return result;
  result.chains = completions(*target, states_of(run, target->domain().dim()).view());
  result.distinct = distinct(result.chains);
  return result;
}

InfillScore Infiller::score(const std::string& text, const std::vector<std::string>& words) {
  InfillScore result;
  result.problem = problem(text);
  const std::vector<std::int32_t> ids = ids_of(result.problem, words);
  // The gradient is over all pieces.
  const auto target = target_of(result.problem, {.special = true, .continuations = true});
  const RowBuffer<Symbol> x(1, target->domain().dim());
  const std::vector<std::int32_t>& allowed = target->allowed();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto at = std::lower_bound(allowed.begin(), allowed.end(), ids[i]);
    x.view()[0][i] = static_cast<Symbol>(at - allowed.begin());
  }
  result.completion = completions(*target, x.view())[0];
  result.gradient = gradient_rows(*target, x.view());
  return result;
}

}  // namespace saltus
