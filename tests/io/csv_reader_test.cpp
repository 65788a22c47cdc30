#include "io/bytes/csv_reader.hpp"

#include <gtest/gtest.h>

#include "test_files.hpp"

namespace saltus {
namespace {

using Fields = std::vector<std::string_view>;

TEST(CsvReader, SplitsAndTrims) {
  CsvReader in(file_of("\xef\xbb\xbf a , b\t,c\r\n\n  \n1,, \"x, \"\"y\"\" z\" ,-2.5e3"), "f.csv");
  in.read_names();
  EXPECT_EQ(in.names(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(in.column("b"), 1u);
  ASSERT_TRUE(in.next(4));
  EXPECT_EQ(in.fields(), (Fields{"1", "", "x, \"\"y\"\" z", "-2.5e3"}));
  EXPECT_EQ(in.number(0), 1);
  EXPECT_EQ(in.number(3), -2500);
  EXPECT_FALSE(in.next(4));
}

TEST(CsvReader, TheFirstOfTwoColumnsOfAName) {
  CsvReader in(file_of("a,b,b\n"), "f.csv");
  in.read_names();
  EXPECT_EQ(in.column("b"), 1u);
  EXPECT_TRUE(contains(data_error([&] { in.column("c"); }), "no column 'c'"));
}

TEST(CsvReader, SkipsALineWhateverItHolds) {
  CsvReader in(file_of("\"not closed\n7\n"), "f.csv");
  in.skip_line();
  ASSERT_TRUE(in.next(1));
  EXPECT_EQ(in.number(0), 7);
}

std::string refusal(const std::string& text) {
  return data_error([&] {
    CsvReader in(file_of(text), "f.csv");
    in.read_names();
    while (in.next(2)) in.number(1);
  });
}

TEST(CsvReader, Refusals) {
  EXPECT_EQ(refusal("a,b\n1,2\n1,2,3\n"),
            "'f.csv' cannot be used: line 3: it has 3 entries where 2 are expected.");
  EXPECT_EQ(refusal("a,b\n\n1,x\x1b[2J\n"),
            "'f.csv' cannot be used: line 3: b is 'x?[2J' where a number is expected.");
  for (const char* word : {"", "nan", "inf", "1e400", "1 2", "0x10"}) {
    EXPECT_TRUE(contains(refusal(std::string("a,b\n1,") + word + "\n"), "line 2: b is '"));
  }
  EXPECT_TRUE(contains(refusal("a,b\n1,\"2\n"), "line 2: a double quote is not closed"));
  EXPECT_TRUE(contains(refusal("a,b\n1,\"2\"\"\n"), "line 2: a double quote is not closed"));
  EXPECT_TRUE(contains(refusal("a,b\n\"1\"2,3\n"), "line 2: text follows the quoted entry 0"));
  EXPECT_TRUE(contains(refusal(""), "line 1: the names of the columns are expected"));
}

}  // namespace
}  // namespace saltus
