// A page that tells of a run: one HTML file with everything in it, which opens offline in any
// browser. Content appears in the order of the calls.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/plot.hpp"

namespace saltus::report {

// False where the library was built without pages (SALTUS_PAGES=OFF); html() and write() then throw
// UsageError.
bool pages_built();

struct Fact {
  std::string name, value;
  bool code = false;      // a command, a file name: set as it is typed
  std::string note = {};  // behind the value
};

// Words of a cell, as they are to look.
struct Phrase {
  enum class Look { plain, strong, marked };  // marked: strong, and on a coloured ground
  std::string text;
  Look look = Look::plain;
};

// Shown as `text`; in the page's data it is `number` where there is one.
struct Cell {
  Cell(const char* shown) : text(shown) {}
  Cell(std::string shown) : text(std::move(shown)) {}
  Cell(double value, std::string shown) : text(std::move(shown)), number(value), numeric(true) {}
  Cell(std::vector<Phrase> shown) : phrases(std::move(shown)) {
    for (const Phrase& phrase : phrases) text += phrase.text;
  }
  std::string text;
  std::vector<Phrase> phrases;  // where not empty, `text` in parts
  double number = 0;
  bool numeric = false;
};

struct Table {
  std::string caption = {};
  std::vector<std::string> columns = {};  // a column is set as numbers where its cells are
  std::vector<std::vector<Cell>> rows = {};
  std::vector<std::vector<Cell>> foot = {};  // rows that sum up
};

struct Image {
  std::vector<std::byte> png;
  std::string alt;    // what is in the picture
  std::string label;  // below it
};

class Page {
 public:
  explicit Page(std::string title);

  // What was run: version, seed, machine, the command to repeat it. Best called first.
  void facts(const std::vector<Fact>& facts);
  void heading(const std::string& text);
  void paragraph(const std::string& text);
  // A paragraph that must not be missed.
  void warning(const std::string& text);
  // Long text as it is, folded away.
  void folded(const std::string& label, const std::string& text);
  void table(const Table& table);
  // A plot with more than a few thousand points should be thinned before, see report/plot.hpp.
  void plot(const Plot& plot);
  void images(const std::string& caption, const std::vector<Image>& images);

  std::string html() const;
  // The file is there whole or not at all. Throws FileError.
  void write(const std::filesystem::path& path) const;

 private:
  void append(const std::string& html);

  std::string title_, body_;
  bool in_plots_ = false;  // plots that follow one another share a grid
  nlohmann::ordered_json data_;
};

}  // namespace saltus::report
