#include "report/page.hpp"

#include <fmt/format.h>

#include <utility>

#include "io/bytes/byte_file.hpp"
#include "report/html.hpp"
#include "saltus/core/error.hpp"

namespace saltus::report {
namespace {

using Json = nlohmann::ordered_json;

#ifdef SALTUS_HAVE_PAGES
constexpr bool kPages = true;

// The page fetches nothing and sends nothing.
constexpr const char* kHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:">
)";

constexpr const char* kTop = R"(<header>
<h1>{}</h1>
<div class="buttons">
<button type="button" id="download-data" hidden>Download data</button>
<button type="button" id="toggle-theme" hidden>Dark colours</button>
</div>
</header>
<main>
<noscript><p class="warning">The charts and downloads of this page need JavaScript. Its text and tables do not.</p></noscript>
)";

constexpr const char* kFoot = R"(</main>
<p id="announcer" class="unseen" role="status" aria-live="polite"></p>
<footer>
<p>Charts by <a href="https://www.chartjs.org">Chart.js</a> {}, © 2014–2022 Chart.js Contributors, with
@kurkle/color, © Jukka Kurkela; both under the MIT License.</p>
<details><summary>MIT License</summary>
<p>Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the “Software”), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:</p>
<p>The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.</p>
<p>The Software is provided “as is”, without warranty of any kind, express or implied, including but not limited to the
warranties of merchantability, fitness for a particular purpose and noninfringement. In no event shall the authors or
copyright holders be liable for any claim, damages or other liability, whether in an action of contract, tort or
otherwise, arising from, out of or in connection with the Software or the use or other dealings in the Software.</p>
</details>
</footer>
)";
#else
constexpr bool kPages = false;
#endif

Json box_json(const Box& box) {
  return {{"low", box.low}, {"q1", box.q1},     {"median", box.median},
          {"q3", box.q3},   {"high", box.high}, {"outliers", box.outliers}};
}

Json series_json(const Series& series) {
  Json j = {{"name", series.name}};
  if (!series.x.empty()) j["x"] = series.x;
  if (!series.y.empty()) j["y"] = series.y;
  if (!series.low.empty()) j["low"] = series.low;
  if (!series.high.empty()) j["high"] = series.high;
  if (!series.boxes.empty()) {
    j["boxes"] = Json::array();
    for (const Box& box : series.boxes) j["boxes"].push_back(box_json(box));
  }
  return j;
}

constexpr const char* kKindNames[] = {"line", "scatter", "bars", "box"};  // by Plot::Kind

Json plot_json(const Plot& plot, const std::string& id) {
  Json j = {{"id", id},
            {"title", plot.title},
            {"kind", kKindNames[static_cast<int>(plot.kind)]},
            {"x", {{"label", plot.x_label}, {"log", plot.log_x}}},
            {"y", {{"label", plot.y_label}, {"log", plot.log_y}}},
            {"summary", plot.summary}};
  if (plot.y_from < plot.y_to) {
    j["y"]["from"] = plot.y_from;
    j["y"]["to"] = plot.y_to;
  }
  if (!plot.categories.empty()) j["categories"] = plot.categories;
  j["series"] = Json::array();
  for (const Series& series : plot.series) j["series"].push_back(series_json(series));
  return j;
}

Json rows_json(const std::vector<std::vector<Cell>>& rows) {
  Json array = Json::array();
  for (const auto& row : rows) {
    Json cells = Json::array();
    for (const Cell& cell : row) {
      cells.push_back(cell.numeric ? Json(cell.number) : Json(cell.text));
    }
    array.push_back(std::move(cells));
  }
  return array;
}

// Running text. A line must not end after the R of R-hat.
std::string prose(const std::string& text) {
  constexpr std::string_view word = "R-hat";
  std::string html = escaped(text);
  for (std::size_t at = 0; (at = html.find(word, at)) != std::string::npos;) {
    const std::string whole = fmt::format("<span class=\"whole\">{}</span>", word);
    html.replace(at, word.size(), whole);
    at += whole.size();
  }
  return html;
}

std::string code(const std::string& text) {
  std::string html = "<code>";
  for (std::size_t first = 0; first <= text.size();) {
    const std::size_t end = std::min(text.find(' ', first), text.size());
    html += fmt::format("{}<span>{}</span>", first == 0 ? "" : " ",
                        escaped(text.substr(first, end - first)));
    first = end + 1;
  }
  return html + "</code>";
}

std::string cell_html(const Cell& cell) {
  if (cell.phrases.empty()) return escaped(cell.text);
  std::string html;
  for (const Phrase& phrase : cell.phrases) {
    std::string text = escaped(phrase.text);
    if (phrase.look == Phrase::Look::marked) text = "<mark>" + text + "</mark>";
    html += phrase.look == Phrase::Look::plain ? text : "<strong>" + text + "</strong>";
  }
  return html;
}

// A text that is longer is set in several lines.
constexpr std::size_t kLong = 36;

std::string row_html(const std::vector<Cell>& row) {
  std::string html = "<tr>";
  for (std::size_t c = 0; c < row.size(); ++c) {
    // The first cell names the row.
    const char* tag = c == 0 ? "th" : "td";
    const char* style = row[c].numeric               ? " class=\"number\""
                        : row[c].text.size() > kLong ? " class=\"long\""
                                                     : "";
    html += fmt::format("<{}{}{}>{}</{}>", tag, c == 0 ? " scope=\"row\"" : "", style,
                        cell_html(row[c]), tag);
  }
  return html + "</tr>\n";
}

std::string head_html(const Table& table) {
  std::string html = "<thead><tr>";
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const bool number = !table.rows.empty() && c < table.rows[0].size() && table.rows[0][c].numeric;
    html += fmt::format("<th scope=\"col\"{}>{}</th>", number ? " class=\"number\"" : "",
                        escaped(table.columns[c]));
  }
  return html + "</tr></thead>\n";
}

}  // namespace

bool pages_built() {
  return kPages;
}

Page::Page(std::string title) : title_(std::move(title)) {
  data_ = {{"title", title_},
           {"facts", Json::object()},
           {"tables", Json::array()},
           {"plots", Json::array()}};
}

void Page::append(const std::string& html) {
  body_ += std::exchange(in_plots_, false) ? "</div>\n" + html : html;
}

void Page::facts(const std::vector<Fact>& facts) {
  std::string html = "<dl class=\"facts\">\n";
  for (const Fact& fact : facts) {
    html += fmt::format("<div><dt>{}</dt><dd>{}", escaped(fact.name),
                        fact.code ? code(fact.value) : escaped(fact.value));
    if (!fact.note.empty()) html += "<span class=\"note\"> " + escaped(fact.note) + "</span>";
    html += "</dd></div>\n";
    data_["facts"][fact.name] = fact.value;
  }
  append(html + "</dl>\n");
}

void Page::heading(const std::string& text) {
  append("<h2>" + escaped(text) + "</h2>\n");
}

void Page::paragraph(const std::string& text) {
  append("<p>" + prose(text) + "</p>\n");
}

void Page::warning(const std::string& text) {
  append("<p class=\"warning\"><strong>Warning:</strong> " + prose(text) + "</p>\n");
}

void Page::folded(const std::string& label, const std::string& text) {
  append(fmt::format(
      "<details class=\"folded\"><summary>{}</summary><pre tabindex=\"0\">{}</pre></details>\n",
      escaped(label), escaped(text)));
}

void Page::table(const Table& table) {
  const std::string id = fmt::format("table-{}", data_["tables"].size() + 1);
  std::string html = fmt::format(
      "<p class=\"caption\" id=\"{0}\">{1}</p>\n"
      "<div class=\"table\" role=\"region\" aria-labelledby=\"{0}\" tabindex=\"0\">\n"
      "<table aria-labelledby=\"{0}\">\n",
      id, prose(table.caption));
  html += head_html(table) + "<tbody>\n";
  for (const auto& row : table.rows) html += row_html(row);
  html += "</tbody>\n";
  if (!table.foot.empty()) {
    html += "<tfoot>\n";
    for (const auto& row : table.foot) html += row_html(row);
    html += "</tfoot>\n";
  }
  append(html + "</table>\n</div>\n");
  data_["tables"].push_back({{"caption", table.caption},
                             {"columns", table.columns},
                             {"rows", rows_json(table.rows)},
                             {"foot", rows_json(table.foot)}});
}

void Page::plot(const Plot& plot) {
  const std::string id = fmt::format("plot-{}", data_["plots"].size() + 1);
  if (!in_plots_) body_ += "<div class=\"plots\">\n";
  in_plots_ = true;
  body_ += fmt::format(
      R"(<figure class="plot{0}" id="{1}">
<figcaption><h3>{2}</h3><p id="{1}-summary">{3}</p></figcaption>
<div class="legend"></div>
<div class="chart" tabindex="0" role="application" aria-roledescription="plot" aria-label="{2}. Left and right arrow keys walk through its points, up and down through its series." aria-describedby="{1}-summary"><canvas aria-hidden="true"></canvas></div>
<div class="tools"><details><summary>Data as a table</summary></details><button type="button" class="csv" aria-label="Download the data of {2} as CSV" hidden>CSV</button></div>
</figure>
)",
      plot.wide ? " wide" : "", id, escaped(plot.title), prose(plot.summary));
  data_["plots"].push_back(plot_json(plot, id));
}

void Page::images(const std::string& caption, const std::vector<Image>& images) {
  std::string html = "<figure class=\"images\">\n<div class=\"grid\">\n";
  for (const Image& image : images) {
    html += fmt::format("<figure><img alt=\"{}\" src=\"data:image/png;base64,{}\">",
                        escaped(image.alt), base64(image.png));
    if (!image.label.empty()) html += "<figcaption>" + escaped(image.label) + "</figcaption>";
    html += "</figure>\n";
  }
  append(html + "</div>\n<figcaption>" + escaped(caption) + "</figcaption>\n</figure>\n");
}

std::string Page::html() const {
#ifdef SALTUS_HAVE_PAGES
  std::string page = kHead;
  page += "<title>" + escaped(title_) + "</title>\n<style>\n";
  page += page_css();
  page += "</style>\n</head>\n<body>\n";
  page += fmt::format(kTop, escaped(title_));
  page += body_ + (in_plots_ ? "</div>\n" : "");
  page += fmt::format(kFoot, SALTUS_CHART_JS_VERSION);
  page += "<script type=\"application/json\" id=\"page-data\">" + script_json(data_) +
          "</script>\n<script>\n";
  page += chart_js();
  page += "\n</script>\n<script>\n";
  page += page_js();
  return page + "</script>\n</body>\n</html>\n";
#else
  throw UsageError("this saltus was built without pages");
#endif
}

void Page::write(const std::filesystem::path& path) const {
  replace_file(path, html());
}

}  // namespace saltus::report
