#include "reproduce/output.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <fstream>
#include <iterator>

#include "report/html.hpp"
#include "saltus/core/error.hpp"

namespace saltus::reproduce {
namespace {

using Kind = report::Plot::Kind;

constexpr std::array<const char*, 4> kKinds = {"line", "scatter", "bars", "box"};  // as in Kind
constexpr std::array<const char*, 3> kLooks = {"plain", "strong", "marked"};       // Phrase::Look

// make(entry) of every entry, as JSON and back.
template <class T, class Make>
Json array_of(const std::vector<T>& list, Make make) {
  Json array = Json::array();
  for (const T& entry : list) array.push_back(make(entry));
  return array;
}
template <class Make>
auto list_from(const Json& array, Make make) {
  std::vector<std::invoke_result_t<Make, const Json&>> list;
  for (const Json& entry : array) list.push_back(make(entry));
  return list;
}

// Curves have seven digits: more than any plot shows.
Json numbers(const std::vector<double>& values) {
  return array_of(values, [](double v) { return std::stod(fmt::format("{:.7g}", v)); });
}

Json row_json(const Row& row) {
  return {{"quantity", row.quantity},
          {"setting", row.setting},
          {"paper", row.paper ? Json(*row.paper) : Json(nullptr)},
          {"ours", row.ours},
          {"spread", row.spread ? Json(*row.spread) : Json(nullptr)},
          {"verdict", verdict_text(row.verdict)},
          {"note", row.note}};
}

Json series_json(const report::Series& series) {
  Json j = {{"name", series.name}};
  for (const auto& [key, values] : {std::pair{"x", &series.x},
                                    {"y", &series.y},
                                    {"low", &series.low},
                                    {"high", &series.high}}) {
    if (!values->empty()) j[key] = numbers(*values);
  }
  for (const report::Box& box : series.boxes) {
    j["boxes"].push_back({{"low", box.low},
                          {"q1", box.q1},
                          {"median", box.median},
                          {"q3", box.q3},
                          {"high", box.high},
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
  j["series"] = array_of(plot.series, series_json);
  return j;
}

// A text, a number with its text, or a list of phrases: [text, look].
Json cell_json(const report::Cell& c) {
  if (c.numeric) return {{"text", c.text}, {"number", c.number}};
  if (c.phrases.empty()) return c.text;
  return array_of(c.phrases, [](const report::Phrase& p) {
    return Json::array({p.text, kLooks[static_cast<std::size_t>(p.look)]});
  });
}

Json cells_json(const std::vector<std::vector<report::Cell>>& rows) {
  return array_of(rows,
                  [](const std::vector<report::Cell>& row) { return array_of(row, cell_json); });
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

const Json& list_of(const Json& j, const char* key) {
  static const Json none = Json::array();
  return j.contains(key) ? j[key] : none;
}

std::vector<double> numbers_of(const Json& j, const char* key) {
  return list_from(list_of(j, key), number);
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
  for (const Verdict v : kVerdicts) {
    if (j.at("verdict") == verdict_text(v)) row.verdict = v;
  }
  return row;
}

report::Series series_of(const Json& j) {
  report::Series s{j.at("name"), numbers_of(j, "x"), numbers_of(j, "y"), numbers_of(j, "low"),
                   numbers_of(j, "high")};
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
  list_of(j, "categories").get_to(plot.categories);
  plot.series = list_from(j.at("series"), series_of);
  if (j.contains("y_range")) plot.y_from = j["y_range"].at(0), plot.y_to = j["y_range"].at(1);
  return plot;
}

report::Cell cell_of(const Json& j) {
  if (j.is_string()) return j.get<std::string>();
  if (j.is_object()) return {number(j.at("number")), j.at("text").get<std::string>()};
  std::vector<report::Phrase> phrases;
  for (const Json& p : j) {
    report::Phrase& phrase = phrases.emplace_back();
    phrase.text = p.at(0).get<std::string>();
    for (std::size_t k = 0; k < kLooks.size(); ++k) {
      if (p.at(1) == kLooks[k]) phrase.look = static_cast<report::Phrase::Look>(k);
    }
  }
  return phrases;
}

std::vector<std::vector<report::Cell>> cells_of(const Json& rows) {
  return list_from(rows, [](const Json& row) { return list_from(row, cell_of); });
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw FileError("cannot open " + path.string(), false);
  return {std::istreambuf_iterator<char>(file), {}};
}

Section section_of(const Json& j, const Json& curves, std::size_t& plot,
                   const std::filesystem::path& folder) {
  Section section;
  section.heading = j.at("heading");
  j.at("text").get_to(section.text);
  for (std::size_t n = j.at("plots"); n > 0; --n) {
    section.plots.push_back(plot_of(curves.at(plot++)));
  }
  for (const Json& t : list_of(j, "tables")) {
    section.tables.push_back(
        {t.at("caption"), t.at("columns"), cells_of(t.at("rows")), cells_of(t.at("foot"))});
  }
  for (const Json& p : list_of(j, "pictures")) {
    const std::string file = p.at("file");
    const std::string png = text_of(folder / file);
    const auto* bytes = reinterpret_cast<const std::byte*>(png.data());
    section.pictures.push_back({file, {{bytes, bytes + png.size()}, p.at("alt"), p.at("label")}});
  }
  section.pictures_caption = j.value("pictures_caption", "");
  return section;
}

Saved parsed(const std::filesystem::path& folder) {
  const Json numbers = Json::parse(text_of(folder / "results.json")),
             rest = Json::parse(text_of(folder / "curves.json"));
  Options options;
  options.quick = numbers.at("quick");
  options.seeds = numbers.at("seeds");
  options.seed = numbers.at("seed");
  Saved saved{{},
              {find_experiment(numbers.at("experiment")), options, numbers.at("command"),
               numbers.at("seconds"), numbers.at("machine"), numbers.at("version"),
               numbers.value("date", "")}};
  saved.results.rows = list_from(numbers.at("rows"), row_of);
  rest.at("findings").get_to(saved.results.findings);
  std::size_t plot = 0;
  for (const Json& section : rest.at("sections")) {
    saved.results.sections.push_back(section_of(section, rest.at("curves"), plot, folder));
  }
  return saved;
}

}  // namespace

Json results_json(const Results& results, const Made& made) {
  return {{"experiment", made.experiment.name},
          {"version", made.version},
          {"date", made.date},
          {"command", made.command},
          {"quick", made.options.quick},
          {"seed", made.options.seed},
          {"seeds", made.options.seeds},
          {"machine", made.machine},
          {"seconds", made.seconds},
          {"rows", array_of(results.rows, row_json)}};
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
