// The exact transition matrix of Gibbs with gradients, over all lists of sites.
#include <algorithm>

#include "saltus/sampler/gwg.hpp"
#include "sampler/informed/exact_flips.hpp"

namespace saltus {

void Gwg::transition_matrix(const StateTable& table, const When&, Rows<double> matrix,
                            std::span<double> acceptance) const {
  const ExactFlips law(table, options_.balancing, options_.window, options_.exact);
  const auto flips = static_cast<std::size_t>(options_.flips);
  const auto log_q = [&](std::size_t s, std::span<const int> list) {
    double sum = 0;
    for (int i : list) sum += law.log_site(s, i) - law.log_others(s, {});
    return sum;
  };
  for (std::size_t s = 0; s < table.size(); ++s) {
    double* row = matrix[static_cast<int>(s)];
    std::fill_n(row, table.size(), 0.0);
    acceptance[s] = 0;
    if (!law.moves(s)) {
      row[s] = 1;
      continue;
    }
    std::vector<int> list(flips);
    const auto enumerate = [&](const auto& self, std::size_t k) -> void {
      if (k < flips) {
        for (list[k] = 0; list[k] < table.domain().dim(); ++list[k]) self(self, k + 1);
        return;
      }
      std::vector<int> distinct = list;
      std::sort(distinct.begin(), distinct.end());
      distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
      law.add(
          s, distinct, log_q(s, list), [&](std::size_t t) { return log_q(t, list); }, row,
          acceptance[s]);
    };
    enumerate(enumerate, 0);
  }
}

}  // namespace saltus
