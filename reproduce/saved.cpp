#include "reproduce/saved.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <fstream>
#include <iterator>

#include "report/html.hpp"
#include "saltus/core/error.hpp"

namespace saltus::reproduce {
namespace {

using report::number_or_null;
using Kind = report::Plot::Kind;

constexpr std::array<const char*, 4> kKinds = {"line", "scatter", "bars", "box"};  // as in Kind
constexpr std::array<const char*, 3> kLooks = {"plain", "strong", "marked"};       // Phrase::Look

// Curves have seven digits: more than any plot shows.
Json numbers(const std::vector<double>& values) {
  Json array = Json::array();
  for (const double v : values) {
    array.push_back(std::isfinite(v) ? Json(std::stod(fmt::format("{:.7g}", v))) : Json(nullptr));
  }
  return array;
}

Json row_json(const Row& row) {
  return {{"quantity", row.quantity},
          {"setting", row.setting},
          {"paper", row.paper ? number_or_null(*row.paper) : Json(nullptr)},
          {"ours", number_or_null(row.ours)},
          {"spread", row.spread ? number_or_null(*row.spread) : Json(nullptr)},
          {"verdict", verdict_text(row.verdict)},
          {"note", row.note}};
}

Json series_json(const report::Series& series) {
  Json j = {{"name", series.name}};
  if (!series.x.empty()) j["x"] = numbers(series.x);
  if (!series.y.empty()) j["y"] = numbers(series.y);
  if (!series.low.empty()) j["low"] = numbers(series.low);
  if (!series.high.empty()) j["high"] = numbers(series.high);
  for (const report::Box& box : series.boxes) {
    j["boxes"].push_back({{"low", number_or_null(box.low)},
                          {"q1", number_or_null(box.q1)},
                          {"median", number_or_null(box.median)},
                          {"q3", number_or_null(box.q3)},
                          {"high", number_or_null(box.high)},
                          {"outliers", numbers(box.outliers)}});
  }
  return j;
}

Json plot_json(const report::Plot& plot) {
  Json j = {{"title", plot.title}, {"x", plot.x_label}, {"y", plot.y_label}};
  if (!plot.categories.empty()) j["categories"] = plot.categories;
  j["kind"] = kKinds[static_cast<std::size_t>(plot.kind)];
  if (plot.log_x) j["log_x"] = true;
  if (plot.log_y) j["log_y"] = true;
  if (plot.wide) j["wide"] = true;
  if (plot.y_from < plot.y_to) j["y_range"] = {plot.y_from, plot.y_to};
  j["summary"] = plot.summary;
  j["series"] = Json::array();
  for (const report::Series& s : plot.series) j["series"].push_back(series_json(s));
  return j;
}

// A text, a number with its text, or a list of phrases: [text, look].
Json cell_json(const report::Cell& c) {
  if (c.numeric) return {{"text", c.text}, {"number", number_or_null(c.number)}};
  if (c.phrases.empty()) return c.text;
  Json phrases = Json::array();
  for (const report::Phrase& p : c.phrases) {
    phrases.push_back(Json::array({p.text, kLooks[static_cast<std::size_t>(p.look)]}));
  }
  return phrases;
}

Json cells_json(const std::vector<std::vector<report::Cell>>& rows) {
  Json j = Json::array();
  for (const auto& row : rows) {
    Json cells = Json::array();
    for (const report::Cell& c : row) cells.push_back(cell_json(c));
    j.push_back(std::move(cells));
  }
  return j;
}

Json section_json(const Section& section) {
  Json j = {{"heading", section.heading}, {"text", section.text}, {"plots", section.plots.size()}};
  for (const report::Table& t : section.tables) {
    j["tables"].push_back({{"caption", t.caption},
                           {"columns", t.columns},
                           {"rows", cells_json(t.rows)},
                           {"foot", cells_json(t.foot)}});
  }
  for (const Picture& p : section.pictures) {
    j["pictures"].push_back({{"file", p.file}, {"alt", p.image.alt}, {"label", p.image.label}});
  }
  if (!section.pictures.empty()) j["pictures_caption"] = section.pictures_caption;
  return j;
}

// ---- And back

double number(const Json& j) {
  return j.is_null() ? std::nan("") : j.get<double>();
}

std::vector<double> numbers_of(const Json& j, const char* key) {
  std::vector<double> list;
  if (j.contains(key)) {
    for (const Json& v : j[key]) list.push_back(number(v));
  }
  return list;
}

const Json& list_of(const Json& j, const char* key) {
  static const Json none = Json::array();
  return j.contains(key) ? j[key] : none;
}

std::optional<double> optional_number(const Json& j) {
  return j.is_null() ? std::nullopt : std::optional(j.get<double>());
}

Row row_of(const Json& j) {
  Row row{j.at("quantity"),
          j.at("setting"),
          optional_number(j.at("paper")),
          number(j.at("ours")),
          optional_number(j.at("spread")),
          Verdict::not_published,
          j.at("note")};
  for (const Verdict v :
       {Verdict::agrees, Verdict::differs, Verdict::cannot_hold, Verdict::undecided}) {
    if (j.at("verdict") == verdict_text(v)) row.verdict = v;
  }
  return row;
}

report::Series series_of(const Json& j) {
  report::Series s{j.at("name"),         numbers_of(j, "x"),    numbers_of(j, "y"),
                   numbers_of(j, "low"), numbers_of(j, "high"), {}};
  for (const Json& b : list_of(j, "boxes")) {
    s.boxes.push_back({number(b.at("low")), number(b.at("q1")), number(b.at("median")),
                       number(b.at("q3")), number(b.at("high")), numbers_of(b, "outliers")});
  }
  return s;
}

report::Plot plot_of(const Json& j) {
  report::Plot plot{.title = j.at("title"), .x_label = j.at("x"), .y_label = j.at("y")};
  for (std::size_t k = 0; k < kKinds.size(); ++k) {
    if (j.at("kind") == kKinds[k]) plot.kind = static_cast<Kind>(k);
  }
  plot.log_x = j.value("log_x", false), plot.log_y = j.value("log_y", false);
  plot.wide = j.value("wide", false);
  plot.summary = j.at("summary");
  for (const Json& c : list_of(j, "categories")) plot.categories.push_back(c);
  for (const Json& s : j.at("series")) plot.series.push_back(series_of(s));
  if (j.contains("y_range")) plot.y_from = j["y_range"].at(0), plot.y_to = j["y_range"].at(1);
  return plot;
}

report::Cell cell_of(const Json& j) {
  if (j.is_string()) return j.get<std::string>();
  if (j.is_object()) return {number(j.at("number")), j.at("text").get<std::string>()};
  std::vector<report::Phrase> phrases;
  for (const Json& p : j) {
    report::Phrase& phrase = phrases.emplace_back(p.at(0).get<std::string>());
    for (std::size_t k = 0; k < kLooks.size(); ++k) {
      if (p.at(1) == kLooks[k]) phrase.look = static_cast<report::Phrase::Look>(k);
    }
  }
  return phrases;
}

std::vector<std::vector<report::Cell>> cells_of(const Json& rows) {
  std::vector<std::vector<report::Cell>> list;
  for (const Json& row : rows) {
    auto& cells = list.emplace_back();
    for (const Json& c : row) cells.push_back(cell_of(c));
  }
  return list;
}

std::vector<std::byte> read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw FileError("cannot open " + path.string(), false);
  std::vector<std::byte> bytes;
  for (std::istreambuf_iterator<char> c(file), end; c != end; ++c) {
    bytes.push_back(static_cast<std::byte>(*c));
  }
  return bytes;
}

Section section_of(const Json& j, const Json& curves, std::size_t& plot,
                   const std::filesystem::path& folder) {
  Section section;
  section.heading = j.at("heading");
  for (const Json& t : j.at("text")) section.text.push_back(t);
  for (std::size_t n = j.at("plots"); n > 0; --n) {
    section.plots.push_back(plot_of(curves.at(plot++)));
  }
  for (const Json& t : list_of(j, "tables")) {
    section.tables.push_back(
        {t.at("caption"), t.at("columns"), cells_of(t.at("rows")), cells_of(t.at("foot"))});
  }
  for (const Json& p : list_of(j, "pictures")) {
    const std::string file = p.at("file");
    section.pictures.push_back({file, {read_bytes(folder / file), p.at("alt"), p.at("label")}});
  }
  section.pictures_caption = j.value("pictures_caption", "");
  return section;
}

Json read_json(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw FileError("cannot open " + path.string(), false);
  return Json::parse(file);
}

Saved parsed(const std::filesystem::path& folder) {
  const Json numbers = read_json(folder / "results.json"), rest = read_json(folder / "curves.json");
  Options options;
  options.quick = numbers.at("quick");
  options.seeds = numbers.at("seeds");
  options.seed = numbers.at("seed");
  Saved saved{{},
              {find_experiment(numbers.at("experiment")), options, numbers.at("command"),
               numbers.at("seconds"), numbers.at("machine"), numbers.at("version")}};
  for (const Json& row : numbers.at("rows")) saved.results.rows.push_back(row_of(row));
  for (const Json& text : rest.at("findings")) saved.results.findings.push_back(text);
  std::size_t plot = 0;
  for (const Json& section : rest.at("sections")) {
    saved.results.sections.push_back(section_of(section, rest.at("curves"), plot, folder));
  }
  return saved;
}

}  // namespace

Json results_json(const Results& results, const Made& made) {
  Json rows = Json::array();
  for (const Row& row : results.rows) rows.push_back(row_json(row));
  return {{"experiment", made.experiment.name},
          {"version", made.version},
          {"command", made.command},
          {"quick", made.options.quick},
          {"seed", made.options.seed},
          {"seeds", made.options.seeds},
          {"machine", made.machine},
          {"seconds", made.seconds},
          {"rows", rows}};
}

Json curves_json(const Results& results) {
  Json plots = Json::array(), sections = Json::array();
  for (const Section& section : results.sections) {
    for (const report::Plot& plot : section.plots) plots.push_back(plot_json(plot));
    sections.push_back(section_json(section));
  }
  return {{"curves", plots}, {"findings", results.findings}, {"sections", sections}};
}

Saved read_results(const std::filesystem::path& folder) {
  try {
    return parsed(folder);
  } catch (const Json::exception& e) {
    throw DataError(
        fmt::format("'{}' does not hold results of an experiment: {}", folder.string(), e.what()));
  }
}

}  // namespace saltus::reproduce
