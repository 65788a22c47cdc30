#include "io/given/given_text.hpp"

#include <fmt/format.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "core/closest_name.hpp"
#include "core/number_text.hpp"
#include "io/bytes/gzip.hpp"
#include "io/bytes/words.hpp"
#include "io/given/given_files.hpp"
#include "io/models/json_fields.hpp"
#include "io/problems/evidence.hpp"
#include "io/problems/problem_text.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// What words mean, for a model.
struct Meaning {
  const Domain& domain;
  const Labels& labels;

  // A number counts coordinates; other words are labels that are texts.
  std::optional<int> coordinate(std::string_view word) const {
    if (const auto i = number_in<int>(word)) return i;
    return coordinate_named(labels, word);
  }

  // A number is the index of a level; other words are names of levels.
  std::optional<int> level(int i, std::string_view word) const {
    const bool plus = word.starts_with('+');
    const auto level = number_in<int>(plus ? word.substr(1) : word);
    if (!level) return level_named(labels, i, word);
    const bool spins = domain.first_value() < 0 && domain.two_level();
    return spins && level == -1 ? 0 : level;
  }

  // `refuse` throws.
  GivenValue value(std::string_view coordinate_word, std::string_view level_word,
                   const std::function<void(const std::string&)>& refuse) const {
    const auto i = coordinate(coordinate_word);
    if (!i) {
      refuse(fmt::format("{} is not a coordinate of the model{}", in_quotes(coordinate_word),
                         meant(coordinate_word)));
    }
    if (*i < 0 || *i >= domain.dim()) {
      refuse(fmt::format("the model has no coordinate {}: they count from 0 to {}", *i,
                         domain.dim() - 1));
    }
    const auto v = level(*i, level_word);
    if (!v) {
      refuse(fmt::format("{} is not a level of coordinate {}, whose levels are 0 to {}",
                         in_quotes(level_word), *i, domain.levels(*i) - 1));
    }
    if (*v < 0 || *v >= domain.levels(*i)) {
      refuse(fmt::format("coordinate {} has the levels 0 to {}, not {}", *i, domain.levels(*i) - 1,
                         *v));
    }
    return {*i, *v};
  }

  std::string meant(std::string_view word) const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < labels.coordinates.size(); ++i) {
      names.push_back(coordinate_name(labels, static_cast<int>(i)));
    }
    if (names.empty()) return fmt::format(": they count from 0 to {}", domain.dim() - 1);
    return did_you_mean(word, names);
  }
};

std::vector<GivenValue> values_in_words(const std::string& words, const Meaning& meaning) {
  std::vector<GivenValue> list;
  for (const std::string& pair : split_list(words)) {
    const std::size_t equals = pair.rfind('=');
    const auto refuse = [&](const std::string& why) {
      throw UsageError(fmt::format("given {}: {}", in_quotes(pair), why));
    };
    if (equals == std::string::npos || equals == 0 || equals + 1 == pair.size()) {
      refuse("expected COORDINATE=LEVEL");
    }
    list.push_back(meaning.value(pair.substr(0, equals), pair.substr(equals + 1), refuse));
  }
  return list;
}

std::vector<GivenValue> values_in_json(const std::string& path, const Meaning& meaning) {
  const Json json = parse_strictly(read_text(path), path);
  if (!json.is_object()) {
    throw DataError(path + ": expected a JSON object, {\"coordinate\": level, ...}");
  }
  std::vector<GivenValue> list;
  for (const auto& [name, level] : json.items()) {
    const auto refuse = [&](const std::string& why) { throw DataError(path + ": " + why); };
    if (!level.is_number_integer() && !level.is_string()) {
      refuse(fmt::format("{} is given {}, which is not a level", in_quotes(name), level.dump()));
    }
    list.push_back(
        meaning.value(name, level.is_string() ? level.get<std::string>() : level.dump(), refuse));
  }
  return list;
}

// A word of a text file, and its place.
struct Placed {
  std::string word;
  std::size_t line;
};

// A level or ? for each coordinate, in lines of any length.
std::vector<GivenValue> values_in_row(const std::vector<Placed>& words, ProblemText& text,
                                      const Meaning& meaning) {
  const int dim = meaning.domain.dim();
  if (words.size() != static_cast<std::size_t>(dim)) {
    text.refuse_file(
        fmt::format("it has {} entries; a level or ? for each of {} coordinates is expected",
                    words.size(), dim));
  }
  std::vector<GivenValue> list;
  for (int i = 0; i < dim; ++i) {
    const Placed& placed = words[static_cast<std::size_t>(i)];
    text.set_line_number(placed.line);
    if (placed.word == "?") continue;
    list.push_back(meaning.value(std::to_string(i), placed.word,
                                 [&](const std::string& why) { text.refuse(why); }));
  }
  return list;
}

std::vector<GivenValue> values_in_lines(const std::vector<Placed>& words, ProblemText& text,
                                        const Meaning& meaning) {
  std::vector<GivenValue> list;
  std::set<int> seen;
  for (std::size_t k = 0; k + 1 < words.size(); k += 2) {
    text.set_line_number(words[k].line);
    list.push_back(meaning.value(words[k].word, words[k + 1].word,
                                 [&](const std::string& why) { text.refuse(why); }));
    if (!seen.insert(list.back().first).second) {
      text.refuse(fmt::format("coordinate {} is given twice", list.back().first));
    }
  }
  return list;
}

std::vector<GivenValue> values_in_text(const std::string& path, const Meaning& meaning) {
  const ByteSource source = range_bytes(open_maybe_packed(path), path);
  ProblemText text(source);
  std::vector<Placed> words;
  bool pairs = true, row = false;
  std::size_t odd_line = 0;
  while (text.next_line()) {
    if (text.line().starts_with('#')) continue;
    if (text.words().size() != 2) {
      pairs = false;
      if (odd_line == 0) odd_line = text.line_number();
    }
    for (const std::string_view word : text.words()) {
      words.push_back({std::string(word), text.line_number()});
      row = row || word == "?";
    }
  }
  if (row || (!pairs && words.size() == static_cast<std::size_t>(meaning.domain.dim()))) {
    return values_in_row(words, text, meaning);
  }
  if (!pairs) {
    text.set_line_number(odd_line);
    text.refuse(
        "expected a coordinate and its level, or in all lines together a level or ? for "
        "each coordinate");
  }
  return values_in_lines(words, text, meaning);
}

// Evidence has numbers alone; where they are out of range, GivenValues says so.
std::vector<GivenValue> values_in_file(const std::string& path, const Meaning& meaning) {
  fs::path name = lower_cased(path);
  if (name.extension() == ".gz") name = name.stem();
  const fs::path ending = name.extension();
  if (ending == ".evid") return read_evidence(path);
  if (ending == ".npy") return given_in_npy(path, meaning.domain);
  if (ending == ".json") return values_in_json(path, meaning);
  if (ending == ".png") return given_in_picture(path, meaning.domain);
  return values_in_text(path, meaning);
}

}  // namespace

GivenValues read_given(const std::string& words_or_file, const Domain& domain,
                       const Labels& labels) {
  const Meaning meaning{domain, labels};
  std::error_code ignored;
  const bool file = fs::exists(words_or_file, ignored);
  if (!file && words_or_file.find('=') != std::string::npos) {
    return {domain, values_in_words(words_or_file, meaning)};
  }
  if (!file) {
    throw FileError("there is no file " + words_or_file +
                        "; values are given as COORDINATE=LEVEL,..., or as a file",
                    false);
  }
  try {
    return {domain, values_in_file(words_or_file, meaning)};
  } catch (const UsageError& e) {
    throw DataError(words_or_file + ": " + e.what());
  }
}

}  // namespace saltus
