#include "saltus/text/infill.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "saltus/core/error.hpp"
#include "saltus/diagnose/exact.hpp"

namespace saltus {
namespace {

// A level with probability proportional to exp(log_weight), given u uniform on (0, 1).
Symbol draw_level(std::span<const float> log_weight, double u) {
  const double top{*std::max_element(log_weight.begin(), log_weight.end())};
  double sum = 0;
  for (const float v : log_weight) sum += std::exp(double{v} - top);
  double left = u * sum;
  std::size_t chosen = 0;  // the last one with any weight, where rounding overshoots
  for (std::size_t k = 0; k < log_weight.size(); ++k) {
    const double weight = std::exp(double{log_weight[k]} - top);
    if (!(weight > 0)) continue;
    chosen = k;
    if (left < weight) break;
    left -= weight;
  }
  return static_cast<Symbol>(chosen);
}

class ConditionalGibbs final : public Sampler, public Enumerable {
 public:
  explicit ConditionalGibbs(const InfillTarget& target) : target_(target) {}

  std::string name() const override { return "conditional_gibbs"; }
  std::vector<Parameter> parameters() const override { return {}; }
  // The conditional laws of a masked model need not belong to any joint law, least of all to U's.
  bool exact() const override { return false; }
  bool reversible() const override { return false; }
  std::string missing(const Target& target) const override {
    return &target == &target_ ? "" : "the gaps of the sentence that it was made for";
  }
  Needs needs(const Target&) const override { return {false, false, false}; }

  void step(const Target& target, Tile& tile, Workspace& work,
            std::span<StepInfo> info) const override {
    const int rows = tile.rows(), levels = target.domain().max_levels(), stride = padded(levels);
    const auto count = static_cast<std::size_t>(rows);
    const Rows<float> log_p{
        work.sampler_scratch.get<float>(0, count * static_cast<std::size_t>(stride)), rows, levels,
        stride};
    const std::span gaps(work.sampler_scratch.get<int>(1, count), count);
    const auto uniform = [&](int r, Purpose purpose) {
      return work.stream(tile, r, purpose).uniform();
    };
    for (int r = 0; r < rows; ++r) {
      gaps[static_cast<std::size_t>(r)] =
          static_cast<int>(uniform(r, Purpose::scan) * target.domain().dim());
    }
    target_.log_probabilities(work.at(tile.step), tile.x, gaps, false, log_p);
    work.evaluations.local += count;
    for (int r = 0; r < rows; ++r) {
      Symbol& level = tile.x[r][gaps[static_cast<std::size_t>(r)]];
      const Symbol before = level;
      level = draw_level(log_p.row(r), uniform(r, Purpose::level));
      info[static_cast<std::size_t>(r)] = {1.0, 1, level != before, true, false};
    }
    ++tile.step;
    tile.logp_current = work.want_logp;
    tile.score_current = tile.target_cache_current = false;
    if (!work.want_logp) return;
    target.evaluate(work.at(tile.step), tile.x, tile.logp, {});
    work.evaluations.logp += count;
  }
  const Enumerable* enumerable() const override { return this; }
  void transition_matrix(const StateTable& table, const When& when, Rows<double> matrix,
                         std::span<double> acceptance) const override {
    const int gaps = table.domain().dim(), levels = table.domain().max_levels();
    const RowBuffer<Symbol> x(1, gaps);
    const RowBuffer<float> log_p(1, levels);
    Scratch scratch;
    for (int s = 0; s < matrix.rows; ++s) {
      std::fill_n(matrix[s], matrix.cols, 0.0);
      acceptance[static_cast<std::size_t>(s)] = 1;
      for (int i = 0; i < gaps; ++i) {
        Symbol* const y = x.view()[0];
        std::copy_n(table.state(static_cast<std::size_t>(s)), gaps, y);
        target_.log_probabilities({when.seed, when.step, scratch}, x.view(), std::span(&i, 1),
                                  false, log_p.view());
        double sum = 0;
        for (const float v : log_p.view().row(0)) sum += std::exp(double{v});
        for (int k = 0; k < levels; ++k) {
          y[i] = static_cast<Symbol>(k);
          matrix[s][table.index(y)] += std::exp(double{log_p.view()[0][k]}) / sum / gaps;
        }
      }
    }
  }

 private:
  const InfillTarget& target_;
};

}  // namespace

std::vector<std::int32_t> allowed_pieces(const WordPieces& pieces, const AllowedPieces& allowed) {
  std::vector<std::int32_t> ids;
  for (std::int32_t id = 0; id < pieces.size(); ++id) {
    if (pieces.special(id) ? allowed.special : allowed.continuations || !pieces.continues(id)) {
      ids.push_back(id);
    }
  }
  return ids;
}

InfillProblem make_infill_problem(const BertFiles& bert, const std::string& text) {
  InfillProblem problem;
  problem.ids = bert.pieces->encode(text);
  problem.ids.insert(problem.ids.begin(), bert.pieces->begin());
  problem.ids.push_back(bert.pieces->end());
  for (std::size_t i = 0; i < problem.ids.size(); ++i) {
    if (problem.ids[i] == bert.pieces->mask()) {
      problem.gaps.push_back(static_cast<std::int32_t>(i));
    }
  }
  if (problem.gaps.empty()) {
    throw DataError("the sentence has no gap: write [MASK] where a word is to be found");
  }
  if (problem.ids.size() > static_cast<std::size_t>(bert.config.positions)) {
    throw DataError("the sentence has " + std::to_string(problem.ids.size()) +
                    " word pieces, [CLS] and [SEP] included; the model " + bert.name +
                    " takes at most " + std::to_string(bert.config.positions));
  }
  return problem;
}

RowBuffer<Symbol> draw_from_marginals(const InfillTarget& target, int chains, std::uint64_t seed) {
  const int gaps = target.domain().dim(), levels = target.domain().max_levels();
  const RowBuffer<Symbol> anything(gaps, gaps);
  const RowBuffer<float> log_p(gaps, levels);
  std::vector<int> every(static_cast<std::size_t>(gaps));
  std::iota(every.begin(), every.end(), 0);
  Scratch scratch;
  target.log_probabilities({seed, 0, scratch}, anything.view(), every, true, log_p.view());
  RowBuffer<Symbol> x(chains, gaps);
  for (int c = 0; c < chains; ++c) {
    const Stream stream(seed, static_cast<std::uint32_t>(c), 0, Purpose::start);
    for (int i = 0; i < gaps; ++i) {
      x.view()[c][i] = draw_level(log_p.view().row(i), stream.uniform(static_cast<unsigned>(i)));
    }
  }
  return x;
}

std::unique_ptr<Sampler> make_conditional_gibbs(const InfillTarget& target) {
  return std::make_unique<ConditionalGibbs>(target);
}

}  // namespace saltus
