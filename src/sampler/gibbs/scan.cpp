#include "sampler/gibbs/scan.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <utility>

namespace saltus {
namespace {

// What an order is a function of, after a mark. It is stored in front of the order, so that an
// order of another seed, pass or model, or what else may lie there, is not taken for it.
using OrderKey = std::array<std::uint64_t, 8>;
constexpr std::uint64_t kMark = 0x9D3F5A1C27E84B60u;

// Fisher & Yates. 32 random bits a place: the order is uniform up to dim / 2^32, and the target is
// invariant under any.
void shuffle(std::uint64_t seed, std::uint64_t pass, std::span<std::int32_t> order) {
  const Stream stream(seed, kAllChains, pass, Purpose::scan);
  PhiloxBlock words{};
  for (std::size_t left = order.size(); left > 1; --left) {
    const std::size_t k = order.size() - left;
    if (k % 4 == 0) words = stream.block(static_cast<std::uint32_t>(k / 4));
    std::swap(order[left - 1], order[std::uint64_t{words[k % 4]} * left >> 32]);
  }
}

}  // namespace

std::span<const std::int32_t> Scan::order(std::uint64_t seed, std::uint64_t pass,
                                          Scratch& own) const {
  constexpr std::size_t kHead = sizeof(OrderKey) / sizeof(std::int32_t);
  const auto n = static_cast<std::size_t>(dim_);
  auto* memory = own.get<std::int32_t>(6, kHead + n);
  const std::span order(memory + kHead, n);
  const bool shuffled = kind_ == Kind::permutation;
  const OrderKey key{kMark, ~kMark, n, shuffled, shuffled ? seed : 0, shuffled ? pass : 0};
  OrderKey stored;
  std::memcpy(stored.data(), memory, sizeof stored);
  if (stored == key) return order;
  std::iota(order.begin(), order.end(), 0);
  if (shuffled) shuffle(seed, pass, order);
  std::memcpy(memory, key.data(), sizeof key);
  return order;
}

std::span<const std::int32_t> Scan::block(std::uint64_t seed, std::uint64_t update,
                                          Scratch& own) const {
  const auto per_pass = static_cast<std::uint64_t>(blocks());
  const std::size_t begin = update % per_pass * static_cast<std::size_t>(block_);
  const std::span<const std::int32_t> all = order(seed, update / per_pass, own);
  return all.subspan(begin, std::min(static_cast<std::size_t>(block_), all.size() - begin));
}

// Floyd's algorithm (Bentley & Floyd, 1987): the j-th of `block` numbers is drawn from the first
// dim - block + j; a number that was drawn before is replaced by the last of these.
void Scan::draw(const Stream& stream, std::uint32_t first, std::int32_t* out) const {
  for (int j = 0; j < block_; ++j) {
    const int last = dim_ - block_ + j;
    const double place = stream.uniform(first + static_cast<std::uint32_t>(j)) * (last + 1.0);
    const auto drawn = static_cast<std::int32_t>(std::min(place, double(last)));
    const bool there = std::find(out, out + j, drawn) != out + j;
    out[j] = there ? last : drawn;
  }
}

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
