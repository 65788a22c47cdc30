#include "io/models/json_fields.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "core/printable.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

using Json = nlohmann::json;
constexpr std::size_t kLongestPlace = 80, kLongestToken = 60;
constexpr std::size_t kDeepest = 64;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// RFC 8259 in one pass, straight into the library's values: the library's own parser takes three
// times as long, and would take a second pass to find a field that is given twice.
class Parser {
 public:
  Parser(std::string_view text, std::string source)
      : begin_(text.data()), at_(begin_), end_(begin_ + text.size()), source_(std::move(source)) {
    if (text.starts_with("\xEF\xBB\xBF")) at_ += 3;
  }

  Json document() {
    Json value;
    skip_blanks();
    read(value);
    skip_blanks();
    if (at_ != end_) refuse();
    return value;
  }

 private:
  struct Level {
    std::string_view key;  // of an object: the member being read
    long index = -1;       // of an array: the element being read
  };

  [[noreturn]] void refuse() const {
    throw DataError(source_ + ": not valid JSON at byte " + std::to_string(at_ - begin_ + 1) +
                    (levels_.empty() ? "" : ", in " + place()));
  }

  std::string place() const {
    std::string text;
    for (const Level& level : levels_) {
      if (level.index >= 0) {
        text += "[" + std::to_string(level.index) + "]";
      } else if (!level.key.empty()) {
        text += (text.empty() ? "" : ".") + std::string(level.key);
      }
    }
    if (text.size() > kLongestPlace) text = text.substr(0, kLongestPlace) + "...";
    return text.empty() ? "the beginning" : text;
  }

  char next() const { return at_ < end_ ? *at_ : '\0'; }  // a NUL is valid nowhere
  bool take(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view word) {
    for (const char c : word) {
      if (!take(c)) refuse();
    }
  }
  void skip_blanks() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
  }

  void read(Json& value) {
    switch (next()) {
      case '{':
        return read_object(value);
      case '[':
        return read_array(value);
      case '"':
        value = read_string();
        return;
      case 't':
        return expect("true"), void(value = true);
      case 'f':
        return expect("false"), void(value = false);
      case 'n':
        return expect("null");
      default:
        return read_number(value);
    }
  }

  void enter(const Level& level) {
    if (levels_.size() == kDeepest) throw DataError(source_ + ": it is nested too deeply");
    levels_.push_back(level);
    ++at_;
    skip_blanks();
  }

  void read_array(Json& value) {
    value = Json::array();
    auto& list = value.get_ref<Json::array_t&>();
    enter({{}, 0});
    if (!take(']')) {
      do {
        skip_blanks();
        read(list.emplace_back());
        skip_blanks();
        ++levels_.back().index;
      } while (take(','));
      if (!take(']')) refuse();
    }
    levels_.pop_back();
  }

  void read_object(Json& value) {
    value = Json::object();
    auto& members = value.get_ref<Json::object_t&>();
    enter({});
    if (!take('}')) {
      do {
        skip_blanks();
        if (next() != '"') refuse();
        const auto [member, added] = members.try_emplace(read_string());
        levels_.back().key = member->first;
        if (!added) throw DataError(source_ + ": the field '" + place() + "' is given twice");
        skip_blanks();
        if (!take(':')) refuse();
        skip_blanks();
        read(member->second);
        skip_blanks();
      } while (take(','));
      if (!take('}')) refuse();
    }
    levels_.pop_back();
  }

  // Where the number ends, and whether it is written as a whole one.
  const char* end_of_number(bool& whole) {
    const char* c = at_;
    const auto digits = [&] {
      const char* const first = c;
      while (c < end_ && is_digit(*c)) ++c;
      if (c == first) at_ = c, refuse();
    };
    if (c < end_ && *c == '-') ++c;
    if (c < end_ && *c == '0') {
      ++c;
    } else {
      digits();
    }
    whole = true;
    if (c < end_ && *c == '.') whole = false, ++c, digits();
    if (c < end_ && (*c == 'e' || *c == 'E')) {
      whole = false, ++c;
      if (c < end_ && (*c == '+' || *c == '-')) ++c;
      digits();
    }
    return c;
  }

  void read_number(Json& value) {
    bool whole = false;
    const char* const first = at_;
    const char* const last = end_of_number(whole);
    at_ = last;
    const auto taken_as = [&](auto number) {
      const bool fits = std::from_chars(first, last, number).ec == std::errc{};
      if (fits) value = number;
      return fits;
    };
    if (whole && (*first == '-' ? taken_as(std::int64_t{}) : taken_as(std::uint64_t{}))) return;
    double number = 0;
    if (std::from_chars(first, last, number).ec != std::errc{}) {
      number = std::strtod(std::string(first, last).c_str(), nullptr);  // too large, or too small
      if (!std::isfinite(number)) {
        throw DataError(source_ + ": " + place() + " is " +
                        shortened({first, static_cast<std::size_t>(last - first)}, kLongestToken) +
                        ", not a finite number");
      }
    }
    value = number;
  }

  std::uint32_t read_hex() {
    std::uint32_t code = 0;
    const char* const last = at_ + 4;
    if (end_ - at_ < 4 || std::from_chars(at_, last, code, 16).ptr != last) refuse();
    at_ = last;
    return code;
  }

  void read_escape(std::string& out) {
    ++at_;
    constexpr std::string_view names = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
    if (const std::size_t k = names.find(next()); at_ < end_ && k != names.npos) {
      out += meant[k];
      ++at_;
      return;
    }
    if (!take('u')) refuse();
    std::uint32_t code = read_hex();
    if (code >= 0xDC00 && code < 0xE000) refuse();
    if (code >= 0xD800 && code < 0xDC00) {
      expect("\\u");
      const std::uint32_t low = read_hex();
      if (low < 0xDC00 || low > 0xDFFF) refuse();
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    append_utf8(code, out);
  }

  std::string read_string() {
    std::string out;
    ++at_;
    while (true) {
      const char* const first = at_;
      while (at_ < end_ && *at_ != '"' && *at_ != '\\' && static_cast<unsigned char>(*at_) >= 0x20)
        ++at_;
      const std::string_view plain(first, static_cast<std::size_t>(at_ - first));
      if (!valid_utf8(plain)) refuse();
      out += plain;
      if (take('"')) return out;
      if (next() != '\\') refuse();
      read_escape(out);
    }
  }

  const char *begin_, *at_, *end_;
  std::string source_;
  std::vector<Level> levels_;
};

}  // namespace

nlohmann::json parse_strictly(const std::string& text, const std::string& source) {
  return Parser(text, source).document();
}

}  // namespace saltus
