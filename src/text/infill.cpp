#include "saltus/text/infill.hpp"

#include <numeric>

#include "saltus/core/error.hpp"
#include "text/infill_draw.hpp"

namespace saltus {

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

}  // namespace saltus
