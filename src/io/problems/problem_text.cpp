#include "io/problems/problem_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "io/bytes/words.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 18;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool is_digit_char(char c) {
  return c >= '0' && c <= '9';
}

// Without a leading plus, which std::from_chars does not take; empty where a second sign follows.
std::string_view unsigned_plus(std::string_view word) {
  if (word.empty() || word[0] != '+') return word;
  word.remove_prefix(1);
  return word.starts_with('-') ? std::string_view() : word;
}

}  // namespace

std::string beginning_of(const ByteSource& source, std::size_t most) {
  std::string text(static_cast<std::size_t>(std::min<std::uint64_t>(most, source.size)), '\0');
  if (!text.empty()) source.read(0, text.data(), text.size());
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return text;
}

std::string in_quotes(std::string_view word) {
  constexpr std::size_t kMostShown = 40;
  return "'" + shown_word(word, kMostShown) + "'";
}

bool whole_in(std::string_view word, std::int64_t& value) {
  word = unsigned_plus(word);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc{} && end == word.data() + word.size();
}

bool number_in_decimals(std::string_view word, double& value) {
  word = unsigned_plus(word);
  const std::size_t first = word.starts_with('-') ? 1 : 0;
  if (first >= word.size() || !(is_digit_char(word[first]) || word[first] == '.')) return false;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (end != word.data() + word.size() || error == std::errc::invalid_argument) return false;
  if (error == std::errc::result_out_of_range) {  // too large, or too small
    value = std::strtod(std::string(word).c_str(), nullptr);
  }
  return std::isfinite(value);
}

ProblemText::ProblemText(const ByteSource& source) : source_(source) {
  buffer_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kBlockBytes, source.size)) + 1);
  if (fill() && std::string_view(buffer_.data(), end_).starts_with(kByteOrderMark)) {
    at_ = kByteOrderMark.size();
  }
}

bool ProblemText::fill() {
  if (read_ == source_.size) return false;
  std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(at_),
            buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
  end_ -= at_;
  at_ = 0;
  if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size());  // a long line
  const auto bytes = static_cast<std::size_t>(
      std::min<std::uint64_t>(buffer_.size() - end_, source_.size - read_));
  source_.read(read_, buffer_.data() + end_, bytes);
  read_ += bytes;
  end_ += bytes;
  return true;
}

bool ProblemText::next_line() {
  while (true) {
    std::size_t searched = 0;
    const char* stop = nullptr;
    do {
      const std::size_t from = at_ + searched;
      if (from < end_) {
        stop = static_cast<const char*>(std::memchr(buffer_.data() + from, '\n', end_ - from));
      }
      searched = end_ - at_;
    } while (!stop && fill());
    if (!stop && at_ == end_) return false;
    const std::size_t length =
        stop ? static_cast<std::size_t>(stop - buffer_.data()) - at_ : end_ - at_;
    line_ = {buffer_.data() + at_, length};
    at_ += length + (stop ? 1 : 0);
    ++line_number_;
    if (std::memchr(line_.data(), '\0', line_.size()))
      refuse("it has a byte 0, so this is no text");
    line_ = trimmed(line_);
    if (!line_.empty()) return true;
  }
}

std::span<const std::string_view> ProblemText::words() {
  words_.clear();
  const char *c = line_.data(), *const end = c + line_.size();
  while (c < end) {
    const char* const first = c;
    while (c < end && !is_blank(*c)) ++c;
    words_.emplace_back(first, static_cast<std::size_t>(c - first));
    while (c < end && is_blank(*c)) ++c;
  }
  return words_;
}

bool ProblemText::next_word(char comment) {
  while (rest_.empty()) {
    if (!next_line()) return false;
    if (line_.front() != comment) rest_ = line_;
  }
  std::size_t length = 0;
  while (length < rest_.size() && !is_blank(rest_[length])) ++length;
  word_ = rest_.substr(0, length);
  while (length < rest_.size() && is_blank(rest_[length])) ++length;
  rest_.remove_prefix(length);
  return true;
}

std::int64_t ProblemText::whole(std::string_view word, const char* what, std::int64_t low,
                                std::int64_t high) const {
  std::int64_t value = 0;
  if (whole_in(word, value) && value >= low && value <= high) return value;
  refuse(fmt::format("{} is {}; expected a whole number from {} to {}", what, in_quotes(word), low,
                     high));
}

double ProblemText::number(std::string_view word, const char* what) const {
  double value = 0;
  if (number_in_decimals(word, value)) return value;
  refuse(fmt::format("{} is {}; expected a finite number, as in -1.5e3", what, in_quotes(word)));
}

std::size_t ProblemText::lines_left() const {
  const std::uint64_t used = read_ - (end_ - at_);
  const std::uint64_t left = source_.size - used;
  if (used == 0) return 0;
  return static_cast<std::size_t>(static_cast<double>(left) * 1.02 *
                                  static_cast<double>(line_number_) / static_cast<double>(used)) +
         16;
}

std::size_t ProblemText::room_for(std::uint64_t announced, std::size_t least_bytes) const {
  const std::uint64_t left = source_.size - read_ + (end_ - at_) + rest_.size();
  return static_cast<std::size_t>(std::min<std::uint64_t>(announced, left / least_bytes + 1));
}

void ProblemText::refuse(const std::string& why) const {
  throw DataError(
      fmt::format("{}: line {}: {}", source_.name, std::max<std::size_t>(1, line_number_), why));
}

void ProblemText::refuse_file(const std::string& why) const {
  throw DataError(fmt::format("{}: {}", source_.name, why));
}

std::size_t EntryLines::line_of(std::size_t entry) const {
  auto run = std::ranges::upper_bound(runs_, entry, {}, &Run::entry);
  if (run == runs_.begin()) return 1;
  --run;
  return run->line + (entry - run->entry);
}

}  // namespace saltus
