#include "core/printable.hpp"

#include <gtest/gtest.h>

namespace saltus {
namespace {

TEST(Printable, KeepsTextOfAnyLanguage) {
  for (const char* text : {"plain", "größer", "日本語", "naïve 😀", ""}) {
    EXPECT_EQ(printable(text), text);
    EXPECT_TRUE(valid_utf8(text));
  }
}

TEST(Printable, ReplacesWhatSteersATerminal) {
  EXPECT_EQ(printable("a\033[31mb\x07\x7f"), "a [31mb  ");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            " 31m");                              // C1: CSI
  EXPECT_EQ(printable("x\xE2\x80\xAEy"), "x y");  // right-to-left override
  EXPECT_EQ(printable("\xD8\x9C\xE2\x81\xA6\xE2\x81\xA9\xE2\x80\x8F\xE2\x80\xA8"), "     ");
}

TEST(Printable, KeepsLineEndsWhereTheyAreMeant) {
  EXPECT_EQ(printable("a\nb\r\n"), "a b  ");
  EXPECT_EQ(printable("a\nb\r\n", true), "a\nb \n");
}

TEST(Printable, MarksInvalidBytes) {
  const std::string mark = "\xEF\xBF\xBD";
  EXPECT_EQ(printable("\xFF"), mark);
  EXPECT_EQ(printable("a\xC3"), "a" + mark);                            // cut off
  EXPECT_EQ(printable("\xC0\xAF"), mark + mark);                        // overlong
  EXPECT_EQ(printable("\xED\xA0\x80"), mark + mark + mark);             // a surrogate
  EXPECT_EQ(printable("\xF4\x90\x80\x80"), mark + mark + mark + mark);  // beyond Unicode
  EXPECT_FALSE(valid_utf8("\xE2\x82"));
}

TEST(Printable, JsonIsEscapedInsteadOfChanged) {
  EXPECT_EQ(printable_json("{\n \"a\": \"x\xC2\x9B\xE2\x80\xAEy\x7f\"}"),
            "{\n \"a\": \"x\\u009b\\u202ey\\u007f\"}");
}

TEST(Printable, ShortensInTheMiddleAndAtCharacters) {
  EXPECT_EQ(shortened("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(shortened("abcdefghijk", 6), "abc...jk");
  std::string many;
  for (int i = 0; i < 100; ++i) many += "ä";
  EXPECT_TRUE(valid_utf8(shortened(many, 51)));
}

TEST(Printable, MessagesEchoLittleOfTheirInput) {
  const std::string word(5000, 'x');
  const std::string text = message_text("the value " + word + " is\nnot possible");
  EXPECT_LT(text.size(), 240u);
  EXPECT_TRUE(text.starts_with("the value xxx"));
  EXPECT_TRUE(text.ends_with(" is not possible"));
  std::string words;
  for (int i = 0; i < 5000; ++i) words += "a b ";
  EXPECT_LT(message_text(words).size(), 610u);
}

}  // namespace
}  // namespace saltus
