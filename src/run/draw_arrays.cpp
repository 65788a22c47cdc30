#include "saltus/run/draw_arrays.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

// Strides of a dense array where none are given. Throws UsageError when an entry would lie outside
// of the `size` that there are.
template <std::size_t N>
void settle_strides(std::array<std::size_t, N>& strides, const std::array<std::size_t, N>& shape,
                    std::size_t size, const char* name) {
  if (std::all_of(strides.begin(), strides.end(), [](std::size_t s) { return s == 0; })) {
    std::size_t stride = 1;
    for (std::size_t k = N; k-- > 0; stride *= shape[k]) strides[k] = stride;
  }
  double last = 0;  // in floating point: nothing may wrap around
  for (std::size_t k = 0; k < N; ++k) {
    last += static_cast<double>(shape[k] - 1) * static_cast<double>(strides[k]);
  }
  if (last >= static_cast<double>(size)) {
    throw UsageError("the array for " + std::string(name) + " has " + std::to_string(size) +
                     " entries, which is not enough for its strides and all draws");
  }
}

}  // namespace

DrawArrays::DrawArrays(DrawsInfo info, int dim, int chains, std::uint64_t most,
                       std::vector<int> coordinates, const CallerArrays& arrays)
    : info_(std::move(info)),
      chains_(chains),
      coordinates_(std::move(coordinates)),
      cols_(coordinates_.empty() ? static_cast<std::size_t>(dim) : coordinates_.size()),
      most_(most),
      made_(static_cast<std::size_t>(chains)),
      arrays_(arrays) {
  const auto n = static_cast<std::size_t>(chains);
  if (static_cast<double>(n) * static_cast<double>(most) * static_cast<double>(cols_) >
      static_cast<double>(std::numeric_limits<std::ptrdiff_t>::max()) / 2) {
    throw std::bad_alloc();
  }
  if (!arrays_.bytes.empty() && info_.levels > 256) {
    throw UsageError("bytes cannot hold the " + std::to_string(info_.levels) +
                     " levels of a coordinate");
  }
  if (arrays_.states.empty() && arrays_.bytes.empty()) {
    own_states_.resize(n * most * cols_);
    own_logp_.resize(n * most);
    arrays_ = {own_states_, {}, own_logp_, {}};
  }
  acceptance_.resize(n * most);
  settle_strides(arrays_.strides, {n, most, cols_},
                 std::max(arrays_.states.size(), arrays_.bytes.size()), "states");
  if (!arrays_.logp.empty()) {
    settle_strides(arrays_.logp_strides, {n, most}, arrays_.logp.size(), "log p");
  }
}

void DrawArrays::begin_round(std::uint64_t) {
  std::fill(made_.begin(), made_.end(), 0);
}

void DrawArrays::record(const Tile& tile, std::span<const StepInfo> info, std::uint64_t draw) {
  for (int r = 0; r < tile.rows(); ++r) {
    const std::size_t chain = tile.first_slot + static_cast<std::size_t>(r), at = draws_ + draw;
    const Symbol* x = tile.x[r];
    for (std::size_t c = 0; c < cols_; ++c) {
      put(chain, at, c, coordinates_.empty() ? x[c] : x[coordinates_[c]]);
    }
    if (!arrays_.logp.empty()) logp_at(chain, at) = tile.logp[r];
    acceptance_[chain * most_ + at] =
        static_cast<float>(info[static_cast<std::size_t>(r)].acceptance);
    made_[chain] = draw + 1;
  }
}

void DrawArrays::end_round() {
  draws_ += made_[0];
}

void DrawArrays::merge(const Recorder& other) {
  const auto* from = dynamic_cast<const DrawArrays*>(&other);
  const bool same = from && from->cols_ == cols_ && from->draws_ == draws_ &&
                    from->coordinates_ == coordinates_ && from->wants_logp() == wants_logp();
  if (!same) return Recorder::merge(other);
  DrawArrays joined(info_, dim(), chains_ + from->chains_, most_, {});
  for (std::size_t chain = 0; chain < joined.made_.size(); ++chain) {
    const bool ours = chain < made_.size();
    const DrawArrays& part = ours ? *this : *from;
    const std::size_t c = ours ? chain : chain - made_.size();
    for (std::size_t t = 0; t < draws_; ++t) {
      for (std::size_t i = 0; i < cols_; ++i) joined.put(chain, t, i, part.level(c, t, i));
      if (wants_logp()) joined.logp_at(chain, t) = part.logp_at(c, t);
      joined.acceptance_[chain * most_ + t] = part.acceptance_[c * part.most_ + t];
    }
  }
  if (!wants_logp()) joined.arrays_.logp = {};
  joined.coordinates_ = coordinates_;
  joined.draws_ = draws_;
  *this = std::move(joined);
}

void DrawArrays::save(ByteWriter& out) const {
  out.put(draws_);
  out.put(!arrays_.logp.empty());
  const std::size_t kept = leaves_out_states_ ? 0 : draws_;
  std::vector<Symbol> x(kept * cols_);
  std::vector<double> logp(kept);
  for (std::size_t chain = 0; chain < static_cast<std::size_t>(chains_); ++chain) {
    for (std::size_t t = 0; t < kept; ++t) {
      for (std::size_t c = 0; c < cols_; ++c) x[t * cols_ + c] = level(chain, t, c);
    }
    read_logp(static_cast<int>(chain), 0, logp);
    out.put_array(std::span<const Symbol>(x));
    out.put_array(std::span<const double>(logp));
    out.put_array(std::span<const float>(acceptance_.data() + chain * most_, draws_));
  }
}

void DrawArrays::restore(ByteReader& in) {
  draws_ = in.get<std::uint64_t>();
  const bool with_logp = in.get<bool>();
  if (draws_ > most_) throw DataError("it holds more draws than there is room for");
  if (!with_logp && !arrays_.logp.empty()) throw DataError("it holds no log p of its draws");
  if (draws_ > 0) in.next_array_length(1);  // before memory is asked for
  const std::size_t kept = leaves_out_states_ ? 0 : draws_;
  std::vector<Symbol> x(kept * cols_);
  std::vector<double> logp(kept);
  for (std::size_t chain = 0; chain < static_cast<std::size_t>(chains_); ++chain) {
    in.get_array(std::span<Symbol>(x));
    in.get_array(std::span<double>(logp));
    in.get_array(std::span<float>(acceptance_.data() + chain * most_, draws_));
    for (std::size_t t = 0; t < kept; ++t) {
      for (std::size_t c = 0; c < cols_; ++c) put(chain, t, c, x[t * cols_ + c]);
      if (!arrays_.logp.empty()) logp_at(chain, t) = logp[t];
    }
  }
}

void DrawArrays::read_states(int chain, std::size_t first, Rows<Symbol> x) const {
  for (int r = 0; r < x.rows; ++r) {
    for (std::size_t c = 0; c < cols_; ++c) {
      x[r][c] = level(static_cast<std::size_t>(chain), first + static_cast<std::size_t>(r), c);
    }
  }
}

void DrawArrays::read_logp(int chain, std::size_t first, std::span<double> out) const {
  for (std::size_t t = 0; t < out.size(); ++t) {
    out[t] = arrays_.logp.empty() ? NAN : logp_at(static_cast<std::size_t>(chain), first + t);
  }
}

void DrawArrays::read_acceptance(int chain, std::size_t first, std::span<float> out) const {
  std::copy_n(acceptance_.begin() +
                  static_cast<std::ptrdiff_t>(static_cast<std::size_t>(chain) * most_ + first),
              out.size(), out.begin());
}

}  // namespace saltus
