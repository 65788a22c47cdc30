// .bqm, the binary files of dimod: a header in JSON, then linear biases and for each variable its
// neighbours, every pair twice. Versions 1.0 and 2.0.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "io/models/json_fields.hpp"
#include "io/problems/dimod.hpp"
#include "io/problems/formats.hpp"
#include "io/problems/pair_problem.hpp"
#include "saltus/core/error.hpp"

static_assert(std::endian::native == std::endian::little, "numbers are read as they lie in files");

namespace saltus {
namespace {

constexpr std::size_t kPrefix = 14;  // magic, version, length of the header

struct NumberType {
  std::string_view name;
  std::size_t bytes;
  bool is_signed, is_float;
};
constexpr NumberType kNumberTypes[] = {{"int8", 1, true, false},    {"int16", 2, true, false},
                                       {"int32", 4, true, false},   {"int64", 8, true, false},
                                       {"uint8", 1, false, false},  {"uint16", 2, false, false},
                                       {"uint32", 4, false, false}, {"uint64", 8, false, false},
                                       {"float32", 4, true, true},  {"float64", 8, true, true}};

// Bytes of the source one after the other, read a block at a time.
class ByteStream {
 public:
  ByteStream(const ByteSource& source, std::uint64_t at) : source_(source), place_(at) {}

  const char* take(std::size_t bytes) {
    if (end_ - at_ < bytes) refill(bytes);
    const char* taken = buffer_.data() + at_;
    at_ += bytes;
    place_ += bytes;
    return taken;
  }
  std::uint64_t place() const { return place_; }

 private:
  void refill(std::size_t bytes) {
    constexpr std::size_t kBlockBytes = std::size_t{1} << 18;
    const std::uint64_t left = source_.size - place_;
    if (left < bytes) throw DataError(source_.name + ": the file ends too early");
    end_ = static_cast<std::size_t>(std::min<std::uint64_t>(std::max(bytes, kBlockBytes), left));
    buffer_.resize(end_);
    source_.read(place_, buffer_.data(), end_);
    at_ = 0;
  }

  const ByteSource& source_;
  std::uint64_t place_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, end_ = 0;
};

class BqmReader {
 public:
  explicit BqmReader(const ByteSource& source) : source_(source), name_(source.name) {}

  PairProblem read() {
    const nlohmann::json header = read_header();
    JsonFields fields(header, name_ + ": header");
    read_layout(fields);
    const bool labels_follow = read_head_labels(fields);
    ByteStream stream(source_, data_);
    problem_.offset = next_bias(stream);
    read_linear(stream);
    read_pairs(stream);
    if (labels_follow) read_labels(stream);
    if (stream.place() != source_.size) {
      refuse(fmt::format("{} bytes follow behind its end, byte {}", source_.size - stream.place(),
                         stream.place()));
    }
    return std::move(problem_);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const { throw DataError(name_ + ": " + why); }

  nlohmann::json read_header() {
    std::array<unsigned char, kPrefix> prefix{};
    if (source_.size < kPrefix) refuse("the file ends within its first 14 bytes");
    source_.read(0, prefix.data(), kPrefix);
    if (std::memcmp(prefix.data(), "DIMODBQM", 8) != 0) refuse("it does not begin with DIMODBQM");
    version_ = prefix[8];
    if ((version_ != 1 && version_ != 2) || prefix[9] != 0) {
      refuse(fmt::format("its version is {}.{}; 1.0 and 2.0 are read", prefix[8], prefix[9]));
    }
    std::uint32_t length = 0;
    std::memcpy(&length, prefix.data() + 10, sizeof length);
    if (length > source_.size - kPrefix) {
      refuse(fmt::format("its header of {} bytes is longer than the file", length));
    }
    std::string text(length, '\0');
    if (length > 0) source_.read(kPrefix, text.data(), length);
    data_ = kPrefix + length;
    return parse_strictly(text, name_ + ": header");
  }

  const NumberType& type_in(JsonFields& fields, const char* field, bool is_float) {
    const std::string text = fields.string(field);
    const auto found = std::ranges::find(kNumberTypes, text, &NumberType::name);
    if (found == std::end(kNumberTypes) || found->is_float != is_float) {
      fields.refuse(field,
                    "is \"" + text.substr(0, 40) + "\"; expected " +
                        (is_float ? "float32 or float64" : "the name of a type of integers"));
    }
    return *found;
  }

  // Refuses what is not in the file before it takes memory for it.
  void read_layout(JsonFields& fields) {
    const auto& shape = fields.array(fields.at("shape"), "shape");
    if (shape.size() != 2) fields.refuse("shape", "is not [variables, interactions]");
    n_ = static_cast<std::uint64_t>(fields.integer(shape[0], "shape[0]", 1, 100'000'000));
    m_ = static_cast<std::uint64_t>(fields.integer(shape[1], "shape[1]", 0, std::int64_t{1} << 40));
    bias_ = type_in(fields, "dtype", true);
    index_ = type_in(fields, "itype", false);
    start_ = type_in(fields, "ntype", false);
    problem_.spins = dimod_spins(fields.at("vartype"), "vartype", name_ + ": header");
    const std::uint64_t needed =
        bias_.bytes + n_ * (start_.bytes + bias_.bytes) + 2 * m_ * (index_.bytes + bias_.bytes);
    if (needed > source_.size - data_) {
      refuse(fmt::format("it has {} bytes of numbers, but {} variables and {} interactions take {}",
                         source_.size - data_, n_, m_, needed));
    }
  }

  // Version 1 has the labels in the header; version 2 says whether they follow the numbers.
  bool read_head_labels(JsonFields& fields) {
    if (version_ == 2) return fields.boolean("variables");
    problem_.labels = dimod_labels(fields.at("variables"), n_, name_ + ": variables");
    return false;
  }

  double next_bias(ByteStream& stream) const {
    const std::uint64_t at = stream.place();
    const char* bytes = stream.take(bias_.bytes);
    double value = 0;
    if (bias_.bytes == sizeof(float)) {
      float single = 0;
      std::memcpy(&single, bytes, sizeof single);
      value = double{single};
    } else {
      std::memcpy(&value, bytes, sizeof value);
    }
    if (!std::isfinite(value)) refuse(fmt::format("the bias at byte {} is not finite", at));
    return value;
  }

  // Numbers from `limit` on, and negative ones, become `limit`.
  static std::uint64_t next_integer(ByteStream& stream, const NumberType& type,
                                    std::uint64_t limit) {
    std::uint64_t value = 0;
    std::memcpy(&value, stream.take(type.bytes), type.bytes);
    const bool negative = type.is_signed && (value >> (8 * type.bytes - 1)) != 0;
    return negative ? limit : std::min(value, limit);
  }

  void read_linear(ByteStream& stream) {
    problem_.linear.reserve(n_);
    starts_.reserve(n_ + 1);
    for (std::uint64_t v = 0; v < n_; ++v) {
      const std::uint64_t start = next_integer(stream, start_, 2 * m_ + 1);
      if (start > 2 * m_ || start < (v ? starts_.back() : 0) || (v == 0 && start != 0)) {
        refuse(fmt::format("the neighbours of variable {} begin at {}, out of order", v, start));
      }
      starts_.push_back(start);
      problem_.linear.push_back(next_bias(stream));
    }
    starts_.push_back(2 * m_);
  }

  // The neighbours of each variable are in increasing order, so that those before it come in the
  // order in which their own neighbours were read: next_[u] is the pair of u that must come next.
  void read_pairs(ByteStream& stream) {
    problem_.pairs.reserve(m_);
    std::vector<std::uint64_t> next(n_), end(n_);
    for (std::uint64_t v = 0; v < n_; ++v) {
      std::uint64_t last = 0;
      next[v] = problem_.pairs.size();
      for (std::uint64_t e = starts_[v]; e < starts_[v + 1]; ++e) {
        const std::uint64_t u = next_integer(stream, index_, n_);
        if (u >= n_ || u == v || (e > starts_[v] && u <= last)) {
          refuse(fmt::format("the neighbours of variable {} are out of range or out of order", v));
        }
        last = u;
        const double bias = next_bias(stream);
        if (u > v) {
          if (problem_.pairs.size() == m_) refuse_halves(v, u);
          problem_.pairs.push_back({static_cast<int>(v), static_cast<int>(u), bias});
          continue;
        }
        if (next[u] == end[u]) refuse_halves(u, v);
        const Coupling& other = problem_.pairs[next[u]++];
        if (static_cast<std::uint64_t>(other.j) != v || other.weight != bias) refuse_halves(u, v);
      }
      end[v] = problem_.pairs.size();
    }
    for (std::uint64_t u = 0; u < n_; ++u) {
      if (next[u] != end[u]) {
        refuse_halves(u, static_cast<std::uint64_t>(problem_.pairs[next[u]].j));
      }
    }
  }

  [[noreturn]] void refuse_halves(std::uint64_t u, std::uint64_t v) const {
    refuse(fmt::format("the two copies of the bias between variables {} and {} differ", u, v));
  }

  void read_labels(ByteStream& stream) {
    constexpr std::size_t kSection = 8;  // VARS and a length
    std::array<char, kSection> section{};
    if (source_.size - stream.place() < kSection) refuse("its section of labels is missing");
    std::memcpy(section.data(), stream.take(kSection), kSection);
    if (std::memcmp(section.data(), "VARS", 4) != 0) refuse("its section of labels is missing");
    std::uint32_t length = 0;
    std::memcpy(&length, section.data() + 4, sizeof length);
    if (length > source_.size - stream.place()) refuse("the file ends within its labels");
    const std::string text(stream.take(length), length);
    problem_.labels =
        dimod_labels(parse_strictly(text, name_ + ": labels"), n_, name_ + ": labels");
  }

  const ByteSource& source_;
  const std::string& name_;
  int version_ = 0;
  std::uint64_t data_ = 0;  // where the numbers begin
  std::uint64_t n_ = 0, m_ = 0;
  NumberType bias_{}, index_{}, start_{};
  std::vector<std::uint64_t> starts_;
  PairProblem problem_;
};

}  // namespace

Model read_bqm(const ByteSource& source, const ProblemOptions& options) {
  return energy_model(BqmReader(source).read(), options);
}

}  // namespace saltus
