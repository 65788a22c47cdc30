// Text from files and options, made safe to show on a terminal or in a page.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace saltus {

// The text as valid UTF-8 without characters that steer a terminal or turn the direction of what
// stands beside them: a control (C0, DEL, C1), a bidirectional mark, a line or paragraph separator
// or an invalid byte becomes one blank, or U+FFFD where it is not valid UTF-8. Line ends stay where
// `lines` says so.
std::string printable(std::string_view text, bool lines = false);

// A character of UTF-8: its code point and length, or an invalid byte of length 1.
struct Character {
  std::uint32_t code;
  std::size_t bytes;
  bool valid;
};
Character character_at(std::string_view text, std::size_t at);
void append_utf8(char32_t code, std::string& text);
bool valid_utf8(std::string_view text);

// JSON text with the same characters written as escapes, inside whose strings alone they occur.
std::string printable_json(std::string_view json);

// The text with its middle left out where it is longer than `most` characters.
std::string shortened(std::string_view text, std::size_t most);

// A sentence that may quote input: printable, in one line, no word longer than 200 characters and
// at most 600 in all.
std::string message_text(std::string_view text);

}  // namespace saltus
