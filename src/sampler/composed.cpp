#include "saltus/sampler/composed.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "saltus/core/error.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/sampler/proposal.hpp"

namespace saltus {
namespace {

std::uint64_t seed_of_part(std::uint64_t seed, std::size_t part) {
  const PhiloxBlock b = Stream(seed, kAllChains, part, Purpose::part).block(0);
  return std::uint64_t{b[0]} << 32 | b[1];
}

std::vector<std::string> labels_of(const Composed::Parts& parts) {
  std::vector<std::string> names;
  for (const auto& part : parts) names.push_back(part->name());
  return part_labels(names);
}

}  // namespace

std::vector<std::string> part_labels(std::span<const std::string> names) {
  std::map<std::string, int> seen;
  std::vector<std::string> labels;
  for (const std::string& name : names) {
    const int count = ++seen[name];
    labels.push_back(count == 1 ? name : name + std::to_string(count));
  }
  return labels;
}

Composed::Composed(Parts parts) : parts_(std::move(parts)) {
  if (parts_.empty()) throw UsageError("a sampler made of others needs at least one part");
  for (const auto& part : parts_) {
    if (!part->interacting() && part->random()) continue;
    throw UsageError("sampler " + part->name() +
                     " moves all chains together by a deterministic rule: it cannot be combined "
                     "with others");
  }
}

std::vector<Parameter> Composed::parameters() const {
  const std::vector<std::string> labels = labels_of(parts_);
  std::vector<Parameter> list;
  for (std::size_t p = 0; p < size(); ++p) {
    for (Parameter& parameter : parts_[p]->parameters()) {
      list.push_back({labels[p] + "." + parameter.name, std::move(parameter.value)});
    }
  }
  return list;
}

bool Composed::exact() const {
  return std::all_of(parts_.begin(), parts_.end(), [](const auto& p) { return p->exact(); });
}

bool Composed::reversible() const {
  return std::all_of(parts_.begin(), parts_.end(), [](const auto& p) { return p->reversible(); });
}

std::string Composed::missing(const Target& target) const {
  for (const auto& part : parts_) {
    if (std::string lacks = part->missing(target); !lacks.empty()) return lacks;
  }
  return {};
}

bool Composed::keeps_constraint() const {
  return std::ranges::all_of(parts_, [](const auto& p) { return p->keeps_constraint(); });
}

bool Composed::accumulates_rounding(const Target& target) const {
  return std::any_of(parts_.begin(), parts_.end(),
                     [&](const auto& p) { return p->accumulates_rounding(target); });
}

const Tunable* Composed::tunable() const {
  const bool any =
      std::any_of(parts_.begin(), parts_.end(), [](const auto& p) { return p->tunable(); });
  return any ? this : nullptr;
}

std::vector<Tuning> Composed::tuning() const {
  const std::vector<std::string> labels = labels_of(parts_);
  std::vector<Tuning> all;
  for (std::size_t p = 0; p < size(); ++p) {
    if (!parts_[p]->tunable()) continue;
    for (Tuning& tuning : parts_[p]->tunable()->tuning()) {
      tuning.parameter = labels[p] + "." + tuning.parameter;
      all.push_back(std::move(tuning));
    }
  }
  return all;
}

std::unique_ptr<Sampler> Composed::tuned(std::span<const double> values, Phase phase) const {
  Parts parts = parts_;
  for (auto& part : parts) {
    const Tunable* tunable = part->tunable();
    if (!tunable) continue;
    const std::size_t count = tunable->tuning().size();
    part = tunable->tuned(values.first(count), phase);
    values = values.subspan(count);
  }
  return with(std::move(parts));
}

const Enumerable* Composed::enumerable() const {
  const bool all =
      std::all_of(parts_.begin(), parts_.end(), [](const auto& p) { return p->enumerable(); });
  return all ? this : nullptr;
}

int Composed::phases_of_parts(const Domain& domain) const {
  int phases = 1;
  for (const auto& part : parts_) phases = std::lcm(phases, part->enumerable()->phases(domain));
  return phases;
}

void Composed::matrix_of_part(std::size_t p, const StateTable& table, const When& when,
                              Rows<double> matrix, std::span<double> acceptance) const {
  parts_[p]->enumerable()->transition_matrix(table, {seed_of_part(when.seed, p), when.step}, matrix,
                                             acceptance);
}

// Parts shed the rounding that they carry at fixed numbers of their own steps, which need not be
// those of the others: all values are evaluated afresh here, too.
void Composed::step_part(std::size_t p, std::uint64_t own_step, const Target& target, Tile& tile,
                         Workspace& work, std::span<StepInfo> info) const {
  const Sampler& part = *parts_[p];
  const auto rows = static_cast<std::uint64_t>(tile.rows());
  const std::uint64_t step = tile.step, seed = work.seed;
  const auto dim = static_cast<std::uint64_t>(tile.x.cols);
  if (step % std::max(kFreshSteps, dim) == 0) {
    tile.logp_current = tile.score_current = tile.target_cache_current = false;
  }
  const Needs evaluated = make_ready(part, target, tile, work);
  work.evaluations.gradient += evaluated.score ? rows : 0;
  work.evaluations.logp += evaluated.logp ? rows : 0;
  tile.step = own_step;
  work.seed = seed_of_part(seed, p);
  if (const int own = part.cache_size(target); own > 0) {
    const int stride = padded(own);
    tile.sampler_cache = {work.parts.get<float>(0, rows * static_cast<std::size_t>(stride)),
                          tile.rows(), own, stride};
    part.start(target, tile, work);
  }
  std::ranges::fill(info, StepInfo{});  // a part need not say which parameter a step belongs to
  part.step(target, tile, work, info);
  tile.sampler_cache = {};
  tile.step = step + 1;
  work.seed = seed;
  std::size_t first = 0;
  for (std::size_t before = 0; before < p; ++before) {
    if (const Tunable* t = parts_[before]->tunable()) first += t->tuning().size();
  }
  for (StepInfo& done : info) {
    if (!part.tunable()) done.tuning = StepInfo::kNotTuned;
    if (done.tuning != StepInfo::kNotTuned) {
      done.tuning = static_cast<std::uint16_t>(done.tuning + first);
    }
  }
}

std::string Sequence::name() const {
  std::string text;
  for (const auto& part : parts()) text += (text.empty() ? "" : "+") + part->name();
  return text;
}

void Sequence::step(const Target& target, Tile& tile, Workspace& work,
                    std::span<StepInfo> info) const {
  step_part(tile.step % size(), tile.step / size(), target, tile, work, info);
}

int Sequence::phases(const Domain& domain) const {
  return static_cast<int>(size()) * phases_of_parts(domain);
}

void Sequence::transition_matrix(const StateTable& table, const When& when, Rows<double> matrix,
                                 std::span<double> acceptance) const {
  matrix_of_part(when.step % size(), table, {when.seed, when.step / size()}, matrix, acceptance);
}

Mix::Mix(Parts parts, std::vector<double> weights)
    : Composed(std::move(parts)), probabilities_(std::move(weights)) {
  if (probabilities_.size() != size()) {
    throw UsageError("a mix of " + std::to_string(size()) + " samplers has " +
                     std::to_string(probabilities_.size()) + " weights");
  }
  double sum = 0;
  for (const double w : probabilities_) {
    if (!(w > 0 && std::isfinite(w))) {
      throw UsageError("the weights of a mix must be positive numbers");
    }
    sum += w;
  }
  for (double& w : probabilities_) w /= sum;
}

std::string Mix::name() const {
  std::string text;
  for (const auto& part : parts()) text += (text.empty() ? "mix of " : ", ") + part->name();
  return text;
}

std::vector<Parameter> Mix::parameters() const {
  std::vector<Parameter> list = Composed::parameters();
  for (std::size_t p = 0; p < size(); ++p) {
    list.push_back({"weight" + std::to_string(p + 1), probabilities_[p]});
  }
  return list;
}

std::size_t Mix::choose(double u) const {
  std::size_t p = 0;
  for (; p + 1 < size() && u >= probabilities_[p]; ++p) u -= probabilities_[p];
  return p;
}

namespace {

// Rows first, ..., end - 1 as a tile of their own.
Tile rows_of(const Tile& tile, int first, int end) {
  const auto part = [&](auto rows) {
    if (rows.data) rows.data = rows[first];
    rows.rows = end - first;
    return rows;
  };
  Tile some = tile;
  some.x = part(tile.x), some.score = part(tile.score), some.target_cache = part(tile.target_cache);
  some.logp = tile.logp + first;
  some.first_chain += static_cast<std::uint32_t>(first);
  some.first_slot += static_cast<std::uint32_t>(first);
  return some;
}

// A part may have swapped its rows for those of the proposals: brings them back.
void bring_back(const Tile& tile, int first, Tile& some, Tile& y) {
  const auto move = [&](Rows<float> to, Rows<float>& from, Rows<float>& spare) {
    if (!to.data || from.data == to[first]) return;
    for (int r = 0; r < from.rows; ++r) std::copy_n(from[r], from.cols, to[first + r]);
    spare.data = std::exchange(from.data, to[first]);
  };
  move(tile.score, some.score, y.score);
  move(tile.target_cache, some.target_cache, y.target_cache);
  if (some.x.data != tile.x[first]) {
    for (int r = 0; r < some.rows(); ++r) std::copy_n(some.x[r], some.x.cols, tile.x[first + r]);
    y.x.data = std::exchange(some.x.data, tile.x[first]);
  }
  if (some.logp != tile.logp + first) {
    std::copy_n(some.logp, some.rows(), tile.logp + first);
    y.logp = std::exchange(some.logp, tile.logp + first);
  }
}

}  // namespace

void Mix::step(const Target& target, Tile& tile, Workspace& work, std::span<StepInfo> info) const {
  const auto part_of = [&](int r) { return choose(work.stream(tile, r, Purpose::part).uniform()); };
  const Tile before = tile;
  bool logp = true, score = true, kept = true;
  for (int first = 0, end = 1; first < before.rows(); first = end++) {
    const std::size_t part = part_of(first);
    while (end < before.rows() && part_of(end) == part) ++end;
    Tile some = rows_of(before, first, end);
    step_part(part, before.step, target, some, work,
              info.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first)));
    bring_back(before, first, some, work.proposal);
    logp = logp && some.logp_current;
    score = score && some.score_current;
    kept = kept && some.target_cache_current;
  }
  tile.logp_current = logp, tile.score_current = score, tile.target_cache_current = kept;
  ++tile.step;
}

void Mix::transition_matrix(const StateTable& table, const When& when, Rows<double> matrix,
                            std::span<double> acceptance) const {
  const RowBuffer<double> one(matrix.rows, matrix.cols);
  std::vector<double> accepted(acceptance.size());
  std::fill(acceptance.begin(), acceptance.end(), 0.0);
  for (int x = 0; x < matrix.rows; ++x) std::fill_n(matrix[x], matrix.cols, 0.0);
  for (std::size_t p = 0; p < size(); ++p) {
    matrix_of_part(p, table, when, one.view(), accepted);
    for (int x = 0; x < matrix.rows; ++x) {
      for (int y = 0; y < matrix.cols; ++y) matrix[x][y] += probabilities_[p] * one.view()[x][y];
      acceptance[static_cast<std::size_t>(x)] +=
          probabilities_[p] * accepted[static_cast<std::size_t>(x)];
    }
  }
}

}  // namespace saltus
