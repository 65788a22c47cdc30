#include "service/whole.hpp"

#include <algorithm>

namespace saltus {
namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

void DrawsWithGiven::read_states(int chain, std::size_t first, Rows<Symbol> x) const {
  const RowBuffer<Symbol> some(x.rows, free_->dim());
  free_->read_states(chain, first, some.view());
  for (int r = 0; r < x.rows; ++r) given_.scatter(some.view()[r], x[r]);
}

std::vector<int> whole_columns(std::vector<int> free, const WholeModel* whole) {
  if (!whole) return free;
  for (int& i : free) i = whole->given.free()[at(i)];
  return free;
}

std::vector<double> means_with_given(const std::vector<double>& free, const GivenValues& given) {
  std::vector<double> all;
  for (int i = 0; i < given.domain().dim(); ++i) {
    all.push_back(given.is_given(i) ? given.domain().value(given.value(i))
                                    : free[at(given.place(i))]);
  }
  return all;
}

std::vector<double> free_probabilities(const std::vector<double>& all, const Domain& some,
                                       const GivenValues& given) {
  std::vector<double> free;
  if (given.domain().two_level()) {
    for (const std::int32_t i : given.free()) free.push_back(all[at(i)]);
    return free;
  }
  std::vector<double> levels = given.levels_gathered(all);
  if (!some.two_level()) return levels;
  for (std::size_t k = 1; k < levels.size(); k += 2) free.push_back(levels[k]);
  return free;
}

ExactAnswer with_given(const ExactAnswer& free, const Target& target, const WholeModel& whole) {
  const GivenValues& given = whole.given;
  const Domain &all = given.domain(), &some = target.domain();
  ExactAnswer answer{free.log_z, means_with_given(free.means, given)};
  if (all.kind() == Domain::Kind::ordered) return answer;
  answer.classes.resize(at(all.score_size()));
  for (int i = 0; i < all.dim(); ++i) {
    double* classes = answer.classes.data() + all.score_begin(i);
    const int place = given.place(i);
    if (place < 0) {
      classes[given.value(i)] = 1;
    } else if (free.classes.empty()) {  // all that is left has two levels
      classes[0] = 1 - free.means[at(place)];
      classes[1] = free.means[at(place)];
    } else {
      std::copy_n(free.classes.data() + some.score_begin(place), all.levels(i), classes);
    }
  }
  return answer;
}

EliminationAnswer with_given(const EliminationAnswer& free, const GivenValues& given) {
  EliminationAnswer all = free;
  all.best = given.whole(free.best);
  all.probabilities.clear();
  auto next = free.probabilities.begin();
  for (int i = 0; i < given.domain().dim(); ++i) {
    for (int k = 0; k < given.domain().levels(i); ++k) {
      all.probabilities.push_back(given.is_given(i) ? given.value(i) == k : *next++);
    }
  }
  return all;
}

}  // namespace saltus
