// Draws as text: a line of names, then one line for each draw, chain by chain.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>

#include "io/bytes/words.hpp"
#include "io/draws/array_draws.hpp"
#include "io/draws/formats.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

constexpr std::string_view kFixedNames = "chain,draw,logp,acceptance_rate";

// ---- Writing

// Enough for the four numbers before the indices; an index and its comma need 6.
constexpr std::size_t kFixedChars = 128, kIndexChars = 6;

// An integer, or a number with the digits that restore it: 17 for a double, 9 for a float.
template <class T>
char* put(char* to, T value) {
  if constexpr (std::is_integral_v<T>) {
    return std::to_chars(to, to + kFixedChars, value).ptr;
  } else {
    if (std::isnan(value)) return static_cast<char*>(std::memcpy(to, "nan", 3)) + 3;
    constexpr int digits = std::numeric_limits<T>::max_digits10;
    return std::to_chars(to, to + kFixedChars, value, std::chars_format::general, digits).ptr;
  }
}

void write_names(OutputFile& out, int dim) {
  std::string names(kFixedNames);
  for (int i = 0; i < dim; ++i) names += fmt::format(",x{}", i);
  out.append(names + "\n");
}

void write_chain(OutputFile& out, const Draws& draws, int chain) {
  std::vector<char> line(kFixedChars + kIndexChars * static_cast<std::size_t>(draws.dim()));
  const int rows = block_rows(draws);
  std::vector<double> logp(static_cast<std::size_t>(rows));
  std::vector<float> acceptance(static_cast<std::size_t>(rows));
  for_each_state_block(draws, chain, rows, [&](std::size_t first, std::span<const Symbol> states) {
    const std::size_t dim = static_cast<std::size_t>(draws.dim()), count = states.size() / dim;
    draws.read_logp(chain, first, std::span(logp).first(count));
    draws.read_acceptance(chain, first, std::span(acceptance).first(count));
    for (std::size_t r = 0; r < count; ++r) {
      char* to = put(line.data(), chain);
      const auto put_next = [&](auto value) {
        *to++ = ',';
        to = put(to, value);
      };
      put_next(first + r);
      put_next(logp[r]);
      put_next(acceptance[r]);
      for (const Symbol s : states.subspan(r * dim, dim)) put_next(s);
      *to++ = '\n';
      out.append(line.data(), static_cast<std::size_t>(to - line.data()));
    }
  });
}

// ---- Reading

constexpr std::size_t kLineBlock = std::size_t{1} << 20;
// Room for millions of coordinates, but not for a whole file without line ends.
constexpr std::size_t kLongestLine = std::size_t{1} << 26;

// The lines of a text file, in order, with a number for messages.
class LineReader {
 public:
  explicit LineReader(const InputFile& file) : file_(file) {}

  // The next line without its end, valid until the next call; false at the end of the file. Throws
  // DataError when the last line has no end, as in a file that was cut off.
  bool next(std::string_view& line) {
    std::size_t searched = at_;
    std::size_t end;
    while ((end = buffer_.find('\n', searched)) == std::string::npos) {
      searched = buffer_.size() - at_;  // fill() moves the start of this line to 0
      if (fill()) continue;
      if (buffer_.empty()) return false;
      ++number_;
      refuse("the file ends in the middle of it");
    }
    ++number_;
    line = std::string_view(buffer_).substr(at_, end - at_);
    if (line.ends_with('\r')) line.remove_suffix(1);
    at_ = end + 1;
    return true;
  }
  // Throws DataError with the file, the number of the current line and `why`, part of a sentence.
  [[noreturn]] void refuse(const std::string& why) const {
    throw DataError(fmt::format("'{}' cannot be used: line {}: {}.", file_.name(),
                                std::max<std::uint64_t>(1, number_), why));
  }

 private:
  // Drops the lines that were used and reads on; false when nothing is left.
  bool fill() {
    buffer_.erase(0, at_);
    at_ = 0;
    if (buffer_.size() > kLongestLine) refuse("it is longer than 64 MiB");
    const std::size_t old = buffer_.size();
    const std::size_t n = std::min<std::uint64_t>(kLineBlock, file_.size() - read_);
    buffer_.resize(old + n);
    file_.read(read_, buffer_.data() + old, n);
    read_ += n;
    return n > 0;
  }

  const InputFile& file_;
  std::string buffer_;
  std::size_t at_ = 0;      // of the next line in buffer_
  std::uint64_t read_ = 0;  // bytes of the file that have been in buffer_
  std::uint64_t number_ = 0;
};

// Takes the fields of a line one by one; errors name the line.
class Fields {
 public:
  Fields(const LineReader& lines, std::string_view line) : lines_(lines), rest_(line) {}

  // An empty field is how some programs write a number that is missing: then `when_empty`.
  template <class T>
  T number(const char* what, std::optional<T> when_empty = {}) {
    if (done_) lines_.refuse(fmt::format("it ends before {}", what));
    const std::size_t comma = rest_.find(',');
    const std::string_view text = rest_.substr(0, comma);
    done_ = comma == std::string_view::npos;
    if (!done_) rest_.remove_prefix(comma + 1);
    if (text.empty() && when_empty) return *when_empty;
    const std::optional<T> value = number_in<T>(text);
    if (value) return *value;
    lines_.refuse(fmt::format("'{}' cannot be read as {}", text.substr(0, 40), what));
  }
  void expect_end() const {
    if (!done_) lines_.refuse("it has more fields than the first line names");
  }

 private:
  const LineReader& lines_;
  std::string_view rest_;
  bool done_ = false;
};

// The number of coordinates that the first line names.
std::uint64_t read_names(LineReader& lines) {
  std::string_view line;
  if (!lines.next(line)) lines.refuse("the file is empty");
  if (!line.starts_with(kFixedNames)) {
    lines.refuse(fmt::format("it does not start with the names '{},x0,...'", kFixedNames));
  }
  line.remove_prefix(kFixedNames.size());
  std::uint64_t dim = 0;
  while (!line.empty()) {
    const std::string name = fmt::format(",x{}", dim);
    if (!line.starts_with(name))
      lines.refuse(fmt::format("the name of coordinate {} is not 'x{}'", dim, dim));
    line.remove_prefix(name.size());
    ++dim;
  }
  if (dim == 0) lines.refuse("it names no coordinates");
  return dim;
}

// Follows the numbering of the lines: chains 0, 1, ... one after the other, equally long.
class Order {
 public:
  void take(const LineReader& lines, std::uint64_t chain, std::uint64_t draw) {
    if (chain == chains_) {
      check_length(lines);
      ++chains_;
      in_chain_ = 0;
    } else if (chain + 1 != chains_) {
      lines.refuse("the lines are not sorted by chain, from chain 0 on");
    } else if (draw <= last_draw_) {
      lines.refuse(fmt::format("draw {} comes after draw {} of the same chain", draw, last_draw_));
    }
    last_draw_ = draw;
    ++in_chain_;
  }
  void check_length(const LineReader& lines) {
    if (chains_ == 1) draws_ = in_chain_;
    if (chains_ > 1 && in_chain_ != draws_) {
      lines.refuse(fmt::format("chain {} ends after {} draws where chain 0 has {}", chains_ - 1,
                               in_chain_, draws_));
    }
  }
  std::uint64_t chains() const { return chains_; }
  std::uint64_t draws() const { return draws_; }

 private:
  std::uint64_t chains_ = 0, draws_ = 0, in_chain_ = 0, last_draw_ = 0;
};

}  // namespace

void write_csv_draws(const std::filesystem::path& path, const std::string& name,
                     const Draws& draws) {
  OutputFile out(path, name);
  write_names(out, draws.dim());
  for (int chain = 0; chain < draws.chains(); ++chain) write_chain(out, draws, chain);
  out.close();
}

// Reads the text once and keeps the numbers in files without a name, where any draw can be found.
std::unique_ptr<Draws> open_csv_draws(const std::filesystem::path& path) {
  const InputFile file(path);
  LineReader lines(file);
  const std::uint64_t dim = read_names(lines);
  OutputFile x = OutputFile::unnamed(file.name()), logp = OutputFile::unnamed(file.name()),
             acceptance = OutputFile::unnamed(file.name());
  std::vector<Symbol> states(dim);
  Order order;
  for (std::string_view line; lines.next(line);) {
    Fields fields(lines, line);
    const auto chain = fields.number<std::uint32_t>("a chain");
    const auto draw = fields.number<std::uint64_t>("a draw");
    order.take(lines, chain, draw);
    const double lp = fields.number<double>("logp", std::numeric_limits<double>::quiet_NaN());
    const float rate = fields.number<float>("an acceptance rate", 1.0F);
    for (Symbol& s : states) s = fields.number<Symbol>("an index between 0 and 65535");
    fields.expect_end();
    x.append(states.data(), states.size() * sizeof(Symbol));
    logp.append(&lp, sizeof(lp));
    acceptance.append(&rate, sizeof(rate));
  }
  order.check_length(lines);
  // A file with names only is a run that kept no draws.
  const std::uint64_t chains = std::max<std::uint64_t>(1, order.chains());
  const std::vector<std::uint64_t> shape = {chains, order.draws()};
  return std::make_unique<ArrayDraws>(
      DrawsInfo{}, NpyArray{"x", NpyType::u2, {chains, order.draws(), dim}, x.reopen()},
      NpyArray{"logp", NpyType::f8, shape, logp.reopen()},
      NpyArray{"acceptance_rate", NpyType::f4, shape, acceptance.reopen()});
}

}  // namespace saltus
