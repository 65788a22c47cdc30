#include "io/draws/array_draws.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "io/draws/formats.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
ArrayDraws::ArrayDraws(DrawsInfo info, NpyArray x, std::optional<NpyArray> logp,
                       std::optional<NpyArray> acceptance)
    : info_(std::move(info)),
      x_(std::move(x)),
      logp_(std::move(logp)),
      acceptance_(std::move(acceptance)) {
  take_shape();
  if (logp_) check_shape(*logp_);
  if (acceptance_) check_shape(*acceptance_);
  info_.shape.assign(1, dim_);
  const int declared = info_.classes.empty() ? 0 : std::ranges::max(info_.classes);
  info_.levels = std::max(declared, count_levels());
}

void ArrayDraws::take_shape() {
  if (!is_integer(x_.type)) x_.refuse("holds floating-point numbers where indices are needed");
  if (x_.shape.size() != 2 && x_.shape.size() != 3) {
    x_.refuse(
        fmt::format("has {} dimensions where chains x draws x coordinates or, for one chain, "
                    "draws x coordinates are needed",
                    x_.shape.size()));
  }
  const std::uint64_t chains = x_.shape.size() == 3 ? x_.shape[0] : 1;
  const std::uint64_t dim = x_.shape.back();
  if (chains == 0 || dim == 0) x_.refuse("is empty");
  constexpr std::uint64_t limit = std::numeric_limits<int>::max();
  if (chains > limit || dim > limit) x_.refuse("has more chains or coordinates than 2^31 - 1");
  chains_ = static_cast<int>(chains);
  dim_ = static_cast<int>(dim);
  draws_ = x_.shape[x_.shape.size() - 2];
}

void ArrayDraws::check_shape(const NpyArray& array) const {
  if (!std::equal(array.shape.begin(), array.shape.end(), x_.shape.begin(), x_.shape.end() - 1)) {
    array.refuse("does not have one number for each draw of 'x'");
  }
}

int ArrayDraws::count_levels() const {
  std::vector<Symbol> block(kReadEntries);
  Symbol largest = 0;
  const std::uint64_t count = x_.count();
  for (std::uint64_t at = 0; at < count;) {
    const std::span<Symbol> part =
        std::span(block).first(std::min<std::uint64_t>(block.size(), count - at));
    x_.read(at, part);
    // Kept free of branches: this is a pass over the whole file.
    for (const Symbol s : part) largest = std::max(largest, s);
    at += part.size();
  }
  return std::max(2, largest + 1);
}

void ArrayDraws::read_states(int chain, std::size_t first, Rows<Symbol> x) const {
  const std::size_t dim = static_cast<std::size_t>(dim_);
  const std::size_t rows_at_once = std::max<std::size_t>(1, kReadEntries / dim);
  std::vector<Symbol> block(std::min(rows_at_once, static_cast<std::size_t>(x.rows)) * dim);
  for (int r = 0; r < x.rows;) {
    const int rows = static_cast<int>(std::min(rows_at_once, static_cast<std::size_t>(x.rows - r)));
    const std::span<Symbol> part = std::span(block).first(static_cast<std::size_t>(rows) * dim);
    x_.read(index(chain, first + static_cast<std::size_t>(r)) * dim, part);
    for (int i = 0; i < rows; ++i) {
      std::copy_n(part.begin() + static_cast<std::ptrdiff_t>(i) * dim_, dim, x[r + i]);
    }
    r += rows;
  }
}

void ArrayDraws::read_logp(int chain, std::size_t first, std::span<double> out) const {
  if (logp_) return logp_->read(index(chain, first), out);
  std::fill(out.begin(), out.end(), std::numeric_limits<double>::quiet_NaN());
}

void ArrayDraws::read_acceptance(int chain, std::size_t first, std::span<float> out) const {
  if (acceptance_) return acceptance_->read(index(chain, first), out);
  std::fill(out.begin(), out.end(), 1.0F);
}

}  // namespace saltus
