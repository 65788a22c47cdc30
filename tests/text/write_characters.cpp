// Prints what is known of every character, a line each, for unicode_test.py to compare: its number,
// its class, its small letters and its letters without accents.
#include <cstdio>

#include "text/unicode.hpp"

int main() {
  const auto print = [](const std::u32string& word) {
    for (const char32_t c : word) std::printf(" %x", static_cast<unsigned>(c));
  };
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c == 0xD800) c = 0xE000;  // surrogates are no characters
    std::u32string small(1, c), plain(1, c);
    saltus::make_lower_case(small);
    saltus::remove_accents(plain);
    std::printf("%x %u,", static_cast<unsigned>(c), unsigned{saltus::char_class(c)});
    print(small);
    std::printf(",");
    print(plain);
    std::printf("\n");
  }
}
