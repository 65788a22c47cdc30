#include "core/printable.hpp"

#include <algorithm>
#include <cstdint>

namespace saltus {
namespace {

constexpr std::size_t kLongestWord = 200, kLongestMessage = 600;

// Steers what shows it: controls, bidirectional marks (Unicode's Bidi_Control), separators.
bool steers(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C || code == 0x200E ||
         code == 0x200F || (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

// Copies valid characters; `replace(character)` gives the text for those that steer, or are
// invalid.
template <class Replace>
std::string copied(std::string_view text, Replace replace) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    if (!c.valid || steers(c.code)) {
      out += replace(c);
    } else {
      out += text.substr(at, c.bytes);
    }
    at += c.bytes;
  }
  return out;
}

std::string escape_of(std::uint32_t code) {
  std::string text = "\\u0000";
  for (std::size_t k = 5; code != 0; code >>= 4) text[k--] = "0123456789abcdef"[code & 15];
  return text;
}

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// Moves to the beginning of a character, so that none is cut.
std::size_t boundary(std::string_view text, std::size_t at) {
  while (at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

}  // namespace

Character character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return {first, 1, true};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() - at < bytes) return {first, 1, false};
  std::uint32_t code = first & (0xFFu >> (bytes + 1));
  for (std::size_t k = 1; k < bytes; ++k) {
    if ((byte(at + k) & 0xC0) != 0x80) return {first, 1, false};
    code = code << 6 | (byte(at + k) & 0x3Fu);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool valid = code >= least[bytes] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
  return valid ? Character{code, bytes, true} : Character{first, 1, false};
}

void append_utf8(char32_t code, std::string& text) {
  const auto put = [&](char32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  put((0xFF00 >> (more + 1) & 0xFF) | code >> (6 * more));  // 110..., 1110..., 11110...
  for (int k = more - 1; k >= 0; --k) put(0x80 | (code >> (6 * k) & 0x3F));
}

std::string printable(std::string_view text, bool lines) {
  return copied(text, [lines](const Character& c) -> std::string_view {
    if (!c.valid) return kReplacement;
    return lines && c.code == '\n' ? "\n" : " ";
  });
}

bool valid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    if (!c.valid) return false;
    at += c.bytes;
  }
  return true;
}

std::string printable_json(std::string_view json) {
  return copied(json, [](const Character& c) -> std::string {
    if (!c.valid) return std::string(kReplacement);
    return c.code == '\n' ? "\n" : escape_of(c.code);
  });
}

std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  const std::size_t front = boundary(text, most / 2), back = boundary(text, text.size() - most / 3);
  return std::string(text.substr(0, front)) + "..." + std::string(text.substr(back));
}

std::string message_text(std::string_view text) {
  const std::string clean = printable(text);
  std::string out;
  for (std::size_t at = 0; at <= clean.size();) {
    const std::size_t end = std::min(clean.find(' ', at), clean.size());
    if (at > 0) out += ' ';
    out += shortened(std::string_view(clean).substr(at, end - at), kLongestWord);
    at = end + 1;
  }
  return shortened(out, kLongestMessage);
}

}  // namespace saltus
