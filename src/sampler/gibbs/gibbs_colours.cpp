#include "sampler/gibbs/gibbs_colours.hpp"

#include <algorithm>
#include <numeric>

namespace saltus {

std::vector<std::int32_t> in_colours(const LocalMoves& local, int dim) {
  const auto n = static_cast<std::size_t>(dim);
  std::vector<std::int32_t> room(static_cast<std::size_t>(local.max_neighbours()));
  std::vector<int> colour(n, -1);
  std::vector<int> taken_by;  // the last coordinate that could not have the colour
  for (int i = 0; i < dim; ++i) {
    for (std::int32_t j : local.neighbours(i, room.data())) {
      const int other = colour[static_cast<std::size_t>(j)];
      if (other >= 0) taken_by[static_cast<std::size_t>(other)] = i;
    }
    const auto free = std::find_if(taken_by.begin(), taken_by.end(), [i](int t) { return t != i; });
    colour[static_cast<std::size_t>(i)] = static_cast<int>(free - taken_by.begin());
    if (free == taken_by.end()) taken_by.push_back(-1);
  }
  std::vector<std::int32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return colour[static_cast<std::size_t>(a)] < colour[static_cast<std::size_t>(b)];
  });
  return order;
}

}  // namespace saltus
