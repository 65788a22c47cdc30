#include "report/html.hpp"

#include <array>

#include "core/printable.hpp"

namespace saltus::report {

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  constexpr std::string_view special = "&<>\"'";
  constexpr std::array<std::string_view, 5> names = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
  // Characters that steer what shows them have no meaning in a page, and some are errors there.
  for (const char c : printable(text, true)) {
    const std::size_t k = special.find(c);
    k == special.npos ? out += c : out += names[k];
  }
  return out;
}

std::string script_json(const nlohmann::ordered_json& json) {
  const std::string text =
      printable_json(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  std::string out;
  out.reserve(text.size());
  // '<' occurs inside strings only, where its escape means the same.
  for (const char c : text) c == '<' ? out += "\\u003c" : out += c;
  return out;
}

std::string base64(std::span<const std::byte> bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes.size() ? std::to_integer<unsigned>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += i + k > bytes.size() ? '=' : digits[group >> (18 - 6 * k) & 63U];
    }
  }
  return out;
}

}  // namespace saltus::report
