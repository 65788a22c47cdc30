// Potts models of sequences: the parameters that plmc writes, and arrays h and J of NumPy.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "io/models/weights_file.hpp"
#include "io/problems/formats.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

Model potts_problem(PottsModel potts, const ProblemOptions& options) {
  Model model;
  model.objective = Objective{"logp", true, options.beta, false};
  model.value = scaled(std::move(potts), options.beta);
  return model;
}

// A name for each level, where all letters are printable.
std::vector<std::vector<std::string>> letter_names(const std::string& letters) {
  std::vector<std::string> names;
  for (const char c : letters) {
    if (c <= ' ' || c > '~') return {};
    names.emplace_back(1, c);
  }
  return {std::move(names)};
}

// Numbers of single precision at a place of the file.
std::vector<double> floats_at(const ByteSource& source, std::uint64_t at, std::size_t count) {
  constexpr std::size_t kBlockNumbers = std::size_t{1} << 16;
  std::vector<double> numbers;
  numbers.reserve(count);
  std::vector<float> block(std::min(count, kBlockNumbers));
  while (numbers.size() < count) {
    const std::size_t n = std::min(block.size(), count - numbers.size());
    source.read(at, block.data(), n * sizeof(float));
    for (std::size_t k = 0; k < n; ++k) {
      if (!std::isfinite(block[k])) {
        throw DataError(fmt::format("{}: the number at byte {} is not finite", source.name,
                                    at + k * sizeof(float)));
      }
      numbers.push_back(double{block[k]});
    }
    at += n * sizeof(float);
  }
  return numbers;
}

// Sites and levels of arrays h and J. Throws DataError unless they fit one another.
struct ArrayShape {
  std::size_t sites, levels;
  bool by_pairs;
};

ArrayShape array_shape(const NamedArray& h, const NamedArray& j, const std::string& file) {
  constexpr std::size_t kMostSites = 1 << 20;
  if (h.shape.size() != 2 || h.shape[0] < 1 || h.shape[0] > kMostSites || h.shape[1] < 2 ||
      h.shape[1] > Domain::kMaxLevels) {
    throw DataError(file + ": h must have the shape sites x levels, with two levels at least");
  }
  const std::uint64_t n = h.shape[0], q = h.shape[1];
  using Shape = std::vector<std::uint64_t>;
  const bool by_pairs = j.shape == Shape{n * (n - 1) / 2, q, q};
  if (!by_pairs && j.shape != Shape{n, n, q, q}) {
    throw DataError(
        fmt::format("{}: h has {} sites and {} levels, so J must have the shape "
                    "({}, {}, {}, {}) or ({}, {}, {})",
                    file, n, q, n, n, q, q, n * (n - 1) / 2, q, q));
  }
  return {static_cast<std::size_t>(n), static_cast<std::size_t>(q), by_pairs};
}

// Couplings of all pairs of sites: the upper half counts; the lower one mirrors it or is 0.
class FullCouplings {
 public:
  FullCouplings(const std::vector<double>& j, ArrayShape shape, const std::string& file)
      : j_(j), shape_(shape) {
    for (std::size_t a = 0; a < shape.sites; ++a) {
      for (std::size_t b = 0; b <= a; ++b) check(a, b, file);
    }
    if (!mirrored_ && !empty_) {
      throw DataError(file + ": J is neither symmetric nor 0 below the diagonal: " + where_);
    }
  }

  const double* table(std::size_t a, std::size_t b) const {
    return j_.data() + (a * shape_.sites + b) * shape_.levels * shape_.levels;
  }

 private:
  void check(std::size_t a, std::size_t b, const std::string& file) {
    constexpr double kTolerance = 1e-6;
    const std::size_t q = shape_.levels;
    for (std::size_t k = 0; k < q * q; ++k) {
      const double lower = table(a, b)[k], upper = table(b, a)[(k % q) * q + k / q];
      if (a == b && lower != 0) {
        throw DataError(fmt::format("{}: J couples site {} to itself", file, a));
      }
      if (lower != 0) empty_ = false;
      if (std::abs(upper - lower) > kTolerance * (1 + std::abs(lower)) && mirrored_) {
        mirrored_ = false;
        where_ = fmt::format("sites {} and {}", b, a);
      }
    }
  }

  const std::vector<double>& j_;
  ArrayShape shape_;
  bool mirrored_ = true, empty_ = true;
  std::string where_;
};

}  // namespace

// int32 L, q, N, N_skipped, iterations; float32 theta, lambda_h, lambda_e, lambda_group, N_eff; the
// q letters; weights of N + N_skipped sequences; L letters; L offsets; f_i, h, f_ij, e_ij.
Model read_plmc(const ByteSource& source, const ProblemOptions& options) {
  constexpr std::uint64_t kHead = 40, kMostSites = 1 << 20, kMostLetters = 127;
  const auto refuse = [&](const std::string& why) { throw DataError(source.name + ": " + why); };
  std::array<std::int32_t, 10> head{};
  if (source.size < kHead) refuse("the file ends within its first 40 bytes");
  source.read(0, head.data(), kHead);
  if (head[0] < 1 || static_cast<std::uint64_t>(head[0]) > kMostSites || head[1] < 2 ||
      static_cast<std::uint64_t>(head[1]) > kMostLetters || head[2] < 0 || head[3] < 0) {
    refuse(
        fmt::format("its header says {} sites, {} letters, {} and {} sequences, which is not "
                    "possible",
                    head[0], head[1], head[2], head[3]));
  }
  const auto sites = static_cast<std::uint64_t>(head[0]), q = static_cast<std::uint64_t>(head[1]);
  const std::uint64_t sequences =
      static_cast<std::uint64_t>(head[2]) + static_cast<std::uint64_t>(head[3]);
  const std::uint64_t pairs = sites * (sites - 1) / 2;
  const std::uint64_t fields = kHead + q + 4 * sequences + 5 * sites + 4 * sites * q;
  const std::uint64_t needed = fields + 4 * sites * q + 8 * pairs * q * q;
  if (needed != source.size) {
    refuse(fmt::format("it has {} bytes, but {} sites of {} letters and {} sequences take {}",
                       source.size, sites, q, sequences, needed));
  }
  std::string letters(q, '\0');
  source.read(kHead, letters.data(), q);
  std::string sorted = letters;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) refuse("its alphabet repeats a letter");
  PottsModel potts{Domain::categorical(head[0], head[1]),
                   floats_at(source, fields, static_cast<std::size_t>(sites * q)),
                   {}};
  std::uint64_t at = needed - 4 * pairs * q * q;
  for (int i = 0; i < head[0]; ++i) {
    for (int j = i + 1; j < head[0]; ++j, at += 4 * q * q) {
      potts.edges.push_back({i, j, floats_at(source, at, static_cast<std::size_t>(q * q))});
    }
  }
  potts.labels.levels = letter_names(letters);
  return potts_problem(std::move(potts), options);
}

Model read_potts_npz(const ByteSource& source, const ProblemOptions& options) {
  const std::string& file = source.name;
  NamedArray h = read_array(file, "h");
  const NamedArray j = read_array(file, "J");
  const ArrayShape shape = array_shape(h, j, file);
  std::optional<FullCouplings> full;
  if (!shape.by_pairs) full.emplace(j.values, shape, file);
  PottsModel potts{
      Domain::categorical(static_cast<int>(shape.sites), static_cast<int>(shape.levels)),
      std::move(h.values),
      {}};
  const std::size_t size = shape.levels * shape.levels;
  const double* next = j.values.data();
  for (std::size_t a = 0; a < shape.sites; ++a) {
    for (std::size_t b = a + 1; b < shape.sites; ++b, next += size) {
      const double* table = full ? full->table(a, b) : next;
      potts.edges.push_back({static_cast<int>(a), static_cast<int>(b), {table, table + size}});
    }
  }
  return potts_problem(std::move(potts), options);
}

}  // namespace saltus
