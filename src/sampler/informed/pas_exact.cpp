// The exact transition matrix of the path auxiliary sampler, over all paths.
#include <algorithm>
#include <cmath>

#include "saltus/sampler/pas.hpp"
#include "sampler/informed/exact_flips.hpp"

namespace saltus {
namespace {

// log q of sites in this order at state s: each with its part of what is left.
double log_path(const ExactFlips& law, std::size_t s, std::span<const int> path) {
  double sum = 0;
  for (std::size_t k = 0; k < path.size(); ++k) {
    sum += law.log_site(s, path[k]) - law.log_others(s, path.first(k));
  }
  return sum;
}

}  // namespace

void Pas::transition_matrix(const StateTable& table, const When&, Rows<double> matrix,
                            std::span<double> acceptance) const {
  const ExactFlips law(table, options_.balancing, options_.window, false);
  const auto most = static_cast<std::size_t>(most_sites());
  const double log_length = options_.fixed ? 0 : -std::log(static_cast<double>(most));
  for (std::size_t s = 0; s < table.size(); ++s) {
    double* row = matrix[static_cast<int>(s)];
    std::fill_n(row, table.size(), 0.0);
    acceptance[s] = 0;
    if (!law.moves(s)) {
      row[s] = 1;
      continue;
    }
    std::vector<int> path;
    const auto enumerate = [&](const auto& self) -> void {
      if (options_.fixed ? path.size() == most : !path.empty()) {
        const std::vector<int> back(path.rbegin(), path.rend());
        law.add(
            s, path, log_path(law, s, path) + log_length,
            [&](std::size_t t) { return log_path(law, t, back) + log_length; }, row, acceptance[s]);
      }
      if (path.size() == most) return;
      for (int i = 0; i < table.domain().dim(); ++i) {
        if (std::find(path.begin(), path.end(), i) != path.end()) continue;
        path.push_back(i);
        self(self);
        path.pop_back();
      }
    };
    enumerate(enumerate);
  }
}

}  // namespace saltus
