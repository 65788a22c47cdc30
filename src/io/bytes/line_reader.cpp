#include "io/bytes/line_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

constexpr std::size_t kLineBlock = std::size_t{1} << 20;
// Room for millions of coordinates, but not for a whole file without line ends.
constexpr std::size_t kLongestLine = std::size_t{1} << 26;

}  // namespace

void LineReader::refuse(const std::string& why) const {
  throw DataError(fmt::format("'{}' cannot be used: line {}: {}.", file_.name(),
                              std::max<std::uint64_t>(1, number_), why));
}

// Drops the lines that were used and reads on; false when nothing is left.
bool LineReader::fill() {
  buffer_.erase(0, at_);
  at_ = 0;
  if (buffer_.size() > kLongestLine) refuse("it is longer than 64 MiB");
  const std::size_t old = buffer_.size();
  const std::size_t n =
      static_cast<std::size_t>(std::min<std::uint64_t>(kLineBlock, file_.size() - read_));
  buffer_.resize(old + n);
  file_.read(read_, buffer_.data() + old, n);
  read_ += n;
  return n > 0;
}

bool LineReader::next(std::string_view& line) {
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

}  // namespace saltus
