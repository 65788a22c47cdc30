#include "report/page.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "gallery.hpp"
#include "io/test_files.hpp"
#include "report/html.hpp"
#include "saltus/core/error.hpp"

namespace saltus::report {
namespace {

#ifdef SALTUS_HAVE_PAGES

std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t first = text.find(from);
  if (first == std::string::npos) return "";
  const std::size_t begin = first + from.size();
  return text.substr(begin, text.find(to, begin) - begin);
}

nlohmann::ordered_json data_of(const std::string& html) {
  return nlohmann::ordered_json::parse(
      between(html, "<script type=\"application/json\" id=\"page-data\">", "</script>"));
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(Page, NothingOfAUserIsMarkup) {
  const std::string html = gallery().html();
  EXPECT_EQ(html.find(kAttack), std::string::npos);
  EXPECT_EQ(html.find("<script>window.attacked"), std::string::npos);
  EXPECT_EQ(html.find("<img src=x"), std::string::npos);
  // The data, Chart.js and the page's script; nothing else opens or ends one.
  EXPECT_EQ(occurrences(html, "<script"), 3U);
  EXPECT_EQ(occurrences(html, "</script"), 3U);
  EXPECT_EQ(occurrences(html, "</title>"), 1U);
  // Title twice, folded, heading, paragraph, warning, table's caption and cell, the plot's title
  // three times and summary, the pictures' caption, alternative and label. (A fact that is code has
  // its words apart.)
  EXPECT_EQ(occurrences(html, escaped(kAttack)), 15U);
}

TEST(Page, HasItsPartsInOrder) {
  const std::string html = gallery().html();
  EXPECT_EQ(html.rfind("<!DOCTYPE html>", 0), 0U);
  std::size_t at = 0;
  for (const char* part :
       {"<title>", "<h1>", "<dl class=\"facts\">", "<details class=\"folded\">", "<h2>",
        "class=\"warning\"><strong>", "<table", "id=\"plot-1\"", "id=\"plot-4\"",
        "data:image/png;base64,iVBOR", "MIT License", "id=\"page-data\"", "Chart.js v3"}) {
    const std::size_t found = html.find(part, at);
    ASSERT_NE(found, std::string::npos) << part;
    at = found;
  }
  EXPECT_EQ(occurrences(html, "<canvas"), 4U);
}

TEST(Page, ElementsAreClosed) {
  const std::string html = gallery().html();
  const std::string body = html.substr(0, html.find("<script"));
  for (const char* tag : {"div", "figure", "table", "tbody", "tr", "td", "details", "p", "main"}) {
    EXPECT_EQ(
        occurrences(body, fmt::format("<{}>", tag)) + occurrences(body, fmt::format("<{} ", tag)),
        occurrences(body, fmt::format("</{}>", tag)))
        << tag;
  }
}

// Everything is in the page: no address that a browser would fetch.
TEST(Page, FetchesNothing) {
  const std::string html = gallery().html();
  const std::string body = html.substr(0, html.find("<script"));
  EXPECT_EQ(body.find("src=\"http"), std::string::npos);
  EXPECT_EQ(body.find("<link"), std::string::npos);
  EXPECT_EQ(body.find("@import"), std::string::npos);
  EXPECT_NE(body.find("default-src 'none'"), std::string::npos);
}

TEST(Page, DataHoldsNumbersAndNull) {
  const auto data = data_of(gallery().html());
  EXPECT_EQ(data["title"], "Gallery " + kAttack);
  EXPECT_EQ(data["facts"]["Command"], "saltus sample " + kAttack);
  EXPECT_EQ(data["tables"][0]["rows"][0][1], 2.5);
  EXPECT_TRUE(data["tables"][0]["rows"][1][1].is_null());
  EXPECT_TRUE(data["tables"][0]["rows"][2][1].is_null());
  ASSERT_EQ(data["plots"].size(), 4U);
  const auto& series = data["plots"][0]["series"][0];
  EXPECT_EQ(series["x"].size(), 30U);
  EXPECT_TRUE(series["y"][7].is_null());
  EXPECT_EQ(series["y"][0], 0.1);
  EXPECT_EQ(data["plots"][1]["series"][0]["boxes"][0]["median"], 3);
  EXPECT_TRUE(data["plots"][1]["series"][1]["boxes"][1]["median"].is_null());
  EXPECT_EQ(data["plots"][2]["categories"].size(), 3U);
}

TEST(Page, PlotsThatFollowOneAnotherShareAGrid) {
  Page page("t");
  page.plot(bars());
  page.plot(scatter());
  page.heading("h");
  page.plot(bars());
  const std::string html = page.html();
  EXPECT_EQ(occurrences(html, "<div class=\"plots\">"), 2U);
  const std::string body = html.substr(0, html.find("<script"));
  EXPECT_EQ(occurrences(body, "<div"), occurrences(body, "</div>"));
}

TEST(Page, WritesTheFileWhole) {
  const TestFolder folder;
  const Page page("t");
  fill_file(folder / "p.html", "old");
  page.write(folder / "p.html");
  EXPECT_EQ(content_of(folder / "p.html"), page.html());
  EXPECT_EQ(folder.entries(), 1);
}

TEST(Page, SaysWhereItCannotWrite) {
  const TestFolder folder;
  try {
    Page("t").write(folder / "none/p.html");
    FAIL();
  } catch (const FileError& e) {
    EXPECT_TRUE(e.writing);
    EXPECT_TRUE(contains(e.what(), "p.html"));
  }
  EXPECT_EQ(folder.entries(), 0);
}

#else

TEST(Page, SaysThatItIsNotBuilt) {
  EXPECT_FALSE(pages_built());
  EXPECT_THROW(Page("t").html(), UsageError);
}

#endif

}  // namespace
}  // namespace saltus::report
