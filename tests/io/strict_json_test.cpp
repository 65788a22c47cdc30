#include "io/models/json_fields.hpp"

#include <gtest/gtest.h>

#include <random>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

using Json = nlohmann::json;

std::string refusal(const std::string& text) {
  try {
    parse_strictly(text, "file");
  } catch (const DataError& e) {
    return e.what();
  }
  return "accepted";
}

// The JSON library's own parser is the reference.
void expect_as_reference(const std::string& text) {
  const Json reference = Json::parse(text, nullptr, false);
  if (reference.is_discarded()) {
    EXPECT_NE(refusal(text), "accepted") << text;
    return;
  }
  try {
    const Json ours = parse_strictly(text, "file");
    EXPECT_EQ(ours, reference) << text;
    EXPECT_EQ(ours.dump(), reference.dump()) << text;
    EXPECT_EQ(ours.type(), reference.type()) << text;
  } catch (const DataError& e) {
    const std::string why = e.what();
    EXPECT_TRUE(why.find("given twice") != why.npos || why.find("nested") != why.npos)
        << text << ": " << why;
  }
}

TEST(StrictJson, ReadsAsTheReference) {
  for (const char* text : {"{}",
                           "[]",
                           "null",
                           "true",
                           "false",
                           "0",
                           "-0",
                           "-0.0",
                           "1",
                           "-1",
                           "18446744073709551615",
                           "18446744073709551616",
                           "-9223372036854775808",
                           "-9223372036854775809",
                           "1e5",
                           "1E+5",
                           "1.5e-5",
                           "0.1",
                           "123456789.123456789",
                           "1e-400",
                           "4.9e-324",
                           "2.2250738585072011e-308",
                           "\"\"",
                           "\"a\\n\\t\\\"\\\\\\/\\b\\f\\r\"",
                           "\"\\u00e4\\ud83d\\ude00\"",
                           "\"ä😀\"",
                           " [ 1 , 2.5 , { \"a\" : [ ] } ] \n",
                           "\xEF\xBB\xBF[1]",
                           "[[[]]]",
                           "{\"a\":{\"b\":null}}"}) {
    expect_as_reference(text);
  }
}

TEST(StrictJson, RefusesAsTheReference) {
  for (const char* text : {"",
                           " ",
                           "{",
                           "}",
                           "[",
                           "]",
                           "[1,]",
                           "[,1]",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{\"a\":1,}",
                           "{a:1}",
                           "01",
                           "-",
                           "+1",
                           "1.",
                           ".5",
                           "1e",
                           "1e+",
                           "0x10",
                           "NaN",
                           "Infinity",
                           "-Infinity",
                           "nul",
                           "tru",
                           "True",
                           "'a'",
                           "\"",
                           "\"\\",
                           "\"\\x\"",
                           "\"\\u12\"",
                           "\"\\ud800\"",
                           "\"\\udc00\"",
                           "\"\\ud800\\u0041\"",
                           "\"\n\"",
                           "\"\x01\"",
                           "\"\xFF\"",
                           "\"\xC0\x80\"",
                           "[1] 2",
                           "1 2",
                           "[1 2]",
                           "// c\n1",
                           "\"\\u 123\"",
                           "\"\\u+123\"",
                           "1e999",
                           "-1e999"}) {
    EXPECT_TRUE(Json::parse(text, nullptr, false).is_discarded()) << text;
    EXPECT_NE(refusal(text), "accepted") << text;
  }
  EXPECT_NE(refusal(std::string("[1]\0", 4)), "accepted");
}

TEST(StrictJson, AgreesWithTheReferenceOnRandomChanges) {
  const std::string good =
      R"({"model": "ising", "n": 3, "couplings": [[0, 1, -0.5e-1], [1, 2, 1E2]],)"
      R"( "text": "a\u00e4\ud83d\ude00\\ ä", "flags": [true, false, null, {}, []], "z": -12})";
  std::mt19937 random(1);
  const std::string symbols = "{}[]\",:0123456789-+.eE \\u\ntrfalsn\x01\x80\xC3\xFF";
  for (int trial = 0; trial < 20000; ++trial) {
    std::string text = good;
    for (auto changes = 1 + random() % 3; changes > 0; --changes) {
      const std::size_t at = random() % text.size();
      const char symbol = symbols[random() % symbols.size()];
      if (random() % 3 == 0) {
        text.erase(at, 1);
      } else if (random() % 2 == 0) {
        text.insert(at, 1, symbol);
      } else {
        text[at] = symbol;
      }
    }
    expect_as_reference(text);
  }
}

TEST(StrictJson, SaysWhereAndWhat) {
  EXPECT_EQ(refusal(R"({"a": 1, "b": {"c": 2, "c": 3}})"), "file: the field 'b.c' is given twice");
  EXPECT_EQ(refusal(R"({"a": [1, [2, x]]})"), "file: not valid JSON at byte 15, in a[1][1]");
  EXPECT_EQ(refusal(R"({"a": [0, 1e999]})"), "file: a[1] is 1e999, not a finite number");
  EXPECT_LT(refusal("{\"a\": 1" + std::string(5000, '0') + "e9999}").size(), 200u);
  EXPECT_EQ(refusal(std::string(65, '[') + std::string(65, ']')), "file: it is nested too deeply");
  EXPECT_EQ(refusal(std::string(64, '[') + std::string(64, ']')), "accepted");
}

}  // namespace
}  // namespace saltus
