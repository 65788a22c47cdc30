// Results that were written come back as they were: the page made from the files is the same.
#include "reproduce/output.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>

#include "io/test_files.hpp"
#include "saltus/core/error.hpp"

namespace saltus::reproduce {
namespace {

using Kind = report::Plot::Kind;

class SavedResults : public testing::Test {
 protected:
  TestFolder made_;
  std::filesystem::path folder_ = made_ / "";
};

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Results made_up() {
  Results r;
  r.findings = {"One.", "Two \"quoted\"."};
  r.rows = {{"log_rmse",
             {{"sampler", "dmala"}, {"alpha", 0.4}},
             -3.5,
             -3.25,
             0.125,
             Verdict::agrees,
             "n"},
            {"bias", Json::object(), {}, std::nan(""), {}, Verdict::not_published, ""},
            {"bound", {{"list", {1, 2}}}, 1.0, 2.0, {}, Verdict::cannot_hold, "why"},
            {"wide", Json::object(), 1.0, 2.0, {}, Verdict::undecided, "too wide"},
            {"other", Json::object(), 1.0, 2.0, 0.5, Verdict::differs, ""}};
  report::Plot lines{.title = "Lines", .x_label = "x", .y_label = "y", .log_x = true};
  lines.series = {{"a", {1, 2}, {3, INFINITY}, {2, 3}, {4, 5}, {}}};
  lines.summary = "falls";
  report::Plot boxes{.title = "Boxes", .kind = Kind::box, .categories = {"u", "v"}};
  boxes.series = {{"b", {}, {}, {}, {}, {{1, 2, 3, 4, 5, {9, 10}}, {1, 1, 1, 1, 1, {}}}}};
  boxes.y_from = -1, boxes.y_to = 11, boxes.wide = true;
  report::Plot bars{.title = "Bars", .kind = Kind::bars, .log_y = true, .categories = {"u"}};
  bars.series = {{"c", {}, {2.5}, {}, {}, {}}};
  using Look = report::Phrase::Look;
  const std::vector<report::Phrase> sentence = {
      {"the ", Look::plain}, {"cat", Look::strong}, {"sat", Look::marked}};
  r.sections.push_back({"First", {"Text."}, {lines, boxes}, {}, {}, ""});
  r.sections.push_back(
      {"Second",
       {},
       {bars},
       {{"caption", {"k", "v"}, {{"a", {1.5, "1.50"}}, {"b", sentence}}, {{"sum", {1.5, "1.50"}}}}},
       {{"p.png", {{std::byte{1}, std::byte{0}, std::byte{255}}, "dots", "P"}}},
       "Pictures."});
  return r;
}

TEST_F(SavedResults, AreListedWithTheirAge) {
  Options options;
  options.seeds = 3;
  const Made made{find_experiment("ising"),
                  options,
                  "saltus reproduce ising",
                  12.5,
                  "a machine",
                  "9.8.7",
                  "2026-11-15"};
  std::filesystem::create_directories(folder_ / "b");
  std::filesystem::create_directories(folder_ / "empty");
  std::filesystem::create_directories(folder_ / "a");
  write_results(made_up(), made, folder_ / "b");
  std::ofstream(folder_ / "a" / "results.json") << "{}";  // of something else
  const std::vector<ListedResults> list = list_results(folder_);
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].folder, folder_ / "b");
  EXPECT_EQ(list[0].experiment, "ising");
  EXPECT_EQ(list[0].version, "9.8.7");
  EXPECT_EQ(list[0].date, "2026-11-15");
  EXPECT_EQ(list[0].seeds, 3);
  for (const Verdict v : kVerdicts) EXPECT_EQ(list[0].count(v), 1) << verdict_text(v);
  EXPECT_TRUE(list_results(folder_ / "nowhere").empty());
  EXPECT_EQ(age_text("2026-11-15", "2026-11-15"), "from today");
  EXPECT_EQ(age_text("2026-02-28", "2026-03-01"), "1 day old");
  EXPECT_EQ(age_text("2025-11-15", "2026-11-15"), "365 days old");
  EXPECT_EQ(age_text("", "2026-11-15"), "");
  EXPECT_EQ(today().size(), 10u);
}

TEST_F(SavedResults, GiveTheSamePage) {
  Options options;
  options.quick = true, options.seeds = 3, options.seed = 7;
  const Made made{
      find_experiment("ising"), options, "saltus reproduce ising", 12.5, "a machine", "9.8.7"};
  write_results(made_up(), made, folder_);
  const Saved saved = read_results(folder_);
  EXPECT_EQ(results_json(saved.results, saved.made).dump(), results_json(made_up(), made).dump());
  EXPECT_EQ(curves_json(saved.results).dump(), curves_json(made_up()).dump());
  if (!report::pages_built()) GTEST_SKIP() << "built without pages";
  const std::string page = text_of(folder_ / "page.html");
  write_page(saved.results, saved.made, folder_ / "again.html");
  EXPECT_EQ(text_of(folder_ / "again.html"), page);
  EXPECT_NE(page.find("9.8.7"), std::string::npos);
}

TEST_F(SavedResults, AreRefusedWhenDamaged) {
  EXPECT_THROW(read_results(folder_), FileError);
  const Made made{find_experiment("ising"), {}, "c", 1, "m"};
  write_results(made_up(), made, folder_);
  std::filesystem::remove(folder_ / "p.png");
  EXPECT_THROW(read_results(folder_), FileError);
  std::ofstream(folder_ / "curves.json") << "{\"curves\": []}";
  EXPECT_THROW(read_results(folder_), DataError);
  std::ofstream(folder_ / "curves.json") << "{";
  EXPECT_THROW(read_results(folder_), DataError);
}

}  // namespace
}  // namespace saltus::reproduce
