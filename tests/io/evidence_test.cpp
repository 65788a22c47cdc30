// Evidence of UAI: its two forms, and what is refused.
#include "io/problems/evidence.hpp"

#include <gtest/gtest.h>

#include "saltus/core/error.hpp"
#include "saltus/model/labels.hpp"
#include "test_files.hpp"

namespace {

using namespace saltus;
using Pairs = std::vector<std::pair<int, int>>;

Pairs read(const std::string& text) {
  const TestFolder folder;
  fill_file(folder / "e.evid", text);
  return read_evidence(folder / "e.evid");
}

TEST(Evidence, FormsOfTheSameWords) {
  const Pairs expected{{4, 1}, {1, 0}};
  for (const char* text :
       {"2 4 1 1 0", "2\n 4 1\n 1 0\n", "c two\r\n1\r\n2 4 1 1 0\r\n", "1 2 4 1 1 0"}) {
    EXPECT_EQ(read(text), expected) << text;
  }
  EXPECT_EQ(read("0"), Pairs{});
  EXPECT_EQ(read("1 0\n"), Pairs{});
  EXPECT_EQ(read("1 1 1\n"), (Pairs{{1, 1}}));
  EXPECT_EQ(read("1 1 1 1\n"), (Pairs{{1, 1}}));
}

TEST(Evidence, Refusals) {
  const std::pair<const char*, const char*> bad[] = {
      {"", "empty"},
      {"2\n1 1 0\n1 4 1\n", "4 words must follow, 'variable level' 2 times; it has 6"},
      {"2\n1 1 0\n1 4 1 1\n", "2 samples"},
      {"2 1 0", "4 words must follow"},
      {"1 2 1 0", "its sample says 2 variables"},
      {"1\n2 0\n1", "its sample says 2"},
      {"2 1 0\n1 1", "line 2: variable 1 is given twice"},
      {"1 -1 0", "'-1'"},
      {"1 1 1.0", "'1.0'"},
      {"1 1 65536", "levels end at 65535"},
      {"1 1 99999999999", "'99999999999'"},
      {"1 100000000 0", "too large"}};
  for (const auto& [text, words] : bad) {
    const std::string message = data_error([text = text] { read(text); });
    EXPECT_TRUE(contains(message, words)) << text;
    EXPECT_TRUE(contains(message, "e.evid"));
  }
  EXPECT_THROW(read_evidence("/no/such/file.evid"), FileError);
}

TEST(Labels, NamesAndNumbers) {
  const Labels labels{{"\"a\"", "7", "\"\\\"q\\\"\"", "[0,1]"}, {{"no", "yes"}}};
  EXPECT_EQ(coordinate_name(labels, 0), "a");
  EXPECT_EQ(coordinate_name(labels, 1), "7");
  EXPECT_EQ(coordinate_name(labels, 3), "[0,1]");
  EXPECT_EQ(coordinate_name({}, 3), "3");
  EXPECT_EQ(level_name(labels, 2, 1), "yes");
  EXPECT_EQ(level_name({}, 2, 1), "1");
  EXPECT_EQ(coordinate_named(labels, "\"q\""), 2);
  EXPECT_EQ(coordinate_named(labels, "7"), std::nullopt);  // coordinate 7
  EXPECT_EQ(level_named(labels, 3, "yes"), 1);
  EXPECT_EQ(level_named(labels, 3, "maybe"), std::nullopt);
  const Labels each{{}, {{"x"}, {"y", "z"}}};
  EXPECT_EQ(level_named(each, 1, "z"), 1);
  EXPECT_EQ(level_named(each, 0, "z"), std::nullopt);
}

}  // namespace
