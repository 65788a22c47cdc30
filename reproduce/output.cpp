#include "reproduce/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/bytes/byte_file.hpp"

namespace saltus::reproduce {
namespace {

// "log_rmse" as people read it.
std::string words(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

// Rows on what the paper says, those first where we do not agree; or all others.
std::vector<const Row*> rows_of(const Results& results, bool about_the_paper) {
  std::vector<const Row*> rows;
  const auto add = [&](Verdict verdict) {
    for (const Row& row : results.rows) {
      if (row.verdict == verdict) rows.push_back(&row);
    }
  };
  if (!about_the_paper) return add(Verdict::not_published), rows;
  for (const Verdict v :
       {Verdict::cannot_hold, Verdict::differs, Verdict::undecided, Verdict::agrees}) {
    add(v);
  }
  return rows;
}

std::string spread_text(double spread) {
  return spread >= 100 ? fmt::format("{:.0f}", spread) : fmt::format("{:.2g}", spread);
}

std::string value_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const Json& entry : value) text += (text.empty() ? "(" : ", ") + value_text(entry);
  return text + ")";
}

// How wide the first columns must be.
struct Widths {
  std::size_t quantity = 8, setting = 7;
  explicit Widths(const Results& results) {
    for (const Row& row : results.rows) {
      quantity = std::max(quantity, row.quantity.size());
      setting = std::max(setting, setting_text(row.setting).size());
    }
  }
};

std::string line_text(const Row& row, const Widths& widths) {
  std::string line = fmt::format("{:<{}}  {:<{}}", row.quantity, widths.quantity,
                                 setting_text(row.setting), widths.setting);
  line += fmt::format("  {:>8}  {:>12}", row.paper ? number_text(*row.paper) : "-",
                      number_text(row.ours, row.spread));
  line += fmt::format(" {:<10}", row.spread ? "± " + spread_text(*row.spread) : "");
  return line + " " + verdict_text(row.verdict) + "\n";
}

Cell number_cell(std::optional<double> value, const std::string& shown) {
  return value ? Cell(*value, shown) : Cell(std::nan(""), "-");
}

// Rows on what the paper says, or all others.
report::Table table_of(const std::vector<const Row*>& rows, bool about_the_paper) {
  const std::string how =
      "± is the standard error over seeds; numbers without one are exact or of a single run.";
  report::Table table{"Numbers that the paper does not give. " + how,
                      {"Quantity", "Setting", "Ours", "±", "Note"}};
  if (about_the_paper) {
    table.caption = "The paper's statements, first those that do not agree. " + how;
    table.columns = {"Quantity", "Setting", "Paper", "Ours", "±", "Verdict", "Why"};
  }
  for (const Row* row : rows) {
    std::vector<Cell> cells = {words(row->quantity), setting_text(row->setting)};
    if (about_the_paper)
      cells.push_back(number_cell(row->paper, row->paper ? number_text(*row->paper) : "-"));
    cells.push_back(number_cell(row->ours, number_text(row->ours, row->spread)));
    cells.push_back(number_cell(row->spread, row->spread ? spread_text(*row->spread) : "-"));
    if (about_the_paper) cells.emplace_back(verdict_text(row->verdict));
    cells.emplace_back(row->note);
    table.rows.push_back(std::move(cells));
  }
  return table;
}

void add_facts(const Made& made, report::Page& page) {
  const Options& o = made.options;
  page.facts({{"Experiment", made.experiment.summary},
              {"Runs", fmt::format("{} with seeds {} to {}", o.seeds, o.seed,
                                   o.seed + static_cast<std::uint64_t>(o.seeds) - 1)},
              {"Size", o.quick ? "quick: a smaller version (--quick)" : "full"},
              {"Time", fmt::format("{:.1f} s", made.seconds)},
              {"Machine", made.machine},
              {"Made by", "saltus " + made.version + (made.date.empty() ? "" : ", " + made.date)},
              {"Command", made.command, true}});
}

void add_rows(const Results& results, report::Page& page) {
  const auto about = rows_of(results, true), other = rows_of(results, false);
  if (!about.empty()) {
    page.heading("What the paper says, and what came out");
    page.table(table_of(about, true));
  }
  if (!other.empty()) {
    page.heading(about.empty() ? "All numbers" : "All other numbers");
    page.table(table_of(other, false));
  }
}

void add_section(const Section& section, report::Page& page) {
  page.heading(section.heading);
  for (const std::string& text : section.text) page.paragraph(text);
  for (const report::Plot& plot : section.plots) page.plot(plot);
  for (const report::Table& table : section.tables) page.table(table);
  std::vector<report::Image> images;
  for (const Picture& picture : section.pictures) images.push_back(picture.image);
  if (!images.empty()) page.images(section.pictures_caption, images);
}

report::Page page_of(const Results& results, const Made& made) {
  report::Page page("Reproduced: " + made.experiment.name);
  add_facts(made, page);
  if (!results.findings.empty()) page.heading("In short");
  for (const std::string& finding : results.findings) page.paragraph(finding);
  for (const Section& section : results.sections) add_section(section, page);
  add_rows(results, page);
  return page;
}

}  // namespace

const char* verdict_text(Verdict verdict) {
  const char* texts[] = {"agrees", "differs", "cannot hold", "undecided", "not published"};
  return texts[static_cast<int>(verdict)];
}

std::string setting_text(const Json& setting) {
  std::string text;
  for (const auto& [key, value] : setting.items()) {
    text += (text.empty() ? "" : ", ") + words(key) + " " + value_text(value);
  }
  return text;
}

std::string number_text(double value, std::optional<double> spread) {
  if (std::isnan(value)) return "-";
  if (!spread || !(*spread > 0)) return fmt::format("{:.6g}", value);
  const int digits = 1 - static_cast<int>(std::floor(std::log10(*spread)));
  return digits > 6 ? fmt::format("{:.4g}", value)
                    : fmt::format("{:.{}f}", value, std::max(0, digits));
}

std::string results_text(const Results& results) {
  const Widths widths(results);
  std::string text =
      fmt::format("{:<{}}  {:<{}}  {:>8}  {:>12} {:<10} {}\n", "quantity", widths.quantity,
                  "setting", widths.setting, "paper", "ours", "", "verdict");
  for (const bool about : {true, false}) {
    for (const Row* row : rows_of(results, about)) {
      text += line_text(*row, widths);
      if (about && row->verdict != Verdict::agrees && !row->note.empty()) {
        text += "    " + row->note + "\n";
      }
    }
  }
  return text;
}

void write_page(const Results& results, const Made& made, const std::filesystem::path& path) {
  page_of(results, made).write(path);
}

std::vector<std::filesystem::path> write_results(const Results& results, const Made& made,
                                                 const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> written;
  const auto place = [&](const std::string& name) { return written.emplace_back(folder / name); };
  replace_file(place("results.json"), results_json(results, made).dump(1) + "\n");
  replace_file(place("curves.json"), curves_json(results).dump(1) + "\n");
  for (const Section& section : results.sections) {
    for (const Picture& picture : section.pictures) {
      const std::vector<std::byte>& png = picture.image.png;
      replace_file(place(picture.file),
                   [&](OutputFile& out) { out.append(png.data(), png.size()); });
    }
  }
  if (report::pages_built()) write_page(results, made, place("page.html"));
  return written;
}

}  // namespace saltus::reproduce
