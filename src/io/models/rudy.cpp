#include "io/models/rudy.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "io/bytes/words.hpp"

namespace saltus {
namespace {

constexpr std::size_t kShown = 40;  // characters of a word in a message
constexpr std::int64_t kMostVertices = 100'000'000;
constexpr std::size_t kShortestEdge = 4;  // "1 2\n"

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!(line = trimmed(line)).empty()) {
    const std::size_t end = std::min(line.find_first_of(" \t\r"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return words;
}

std::string_view without_plus(std::string_view word) {
  const bool plus = word.size() > 1 && word[0] == '+' && word[1] != '-' && word[1] != '+';
  return plus ? word.substr(1) : word;
}

std::optional<std::int64_t> whole_number(std::string_view word) {
  return number_in<std::int64_t>(without_plus(word));
}

// Finite; what is too small for a double is 0.
std::optional<double> weight_in(std::string_view word) {
  word = without_plus(word);
  if (word.find_first_not_of("+-.0123456789eE") != std::string_view::npos) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (end != word.data() + word.size() || error == std::errc::invalid_argument) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    const std::size_t e = word.find_first_of("eE");
    const bool tiny = e != std::string_view::npos && e + 1 < word.size() && word[e + 1] == '-';
    return tiny ? std::optional(0.0) : std::nullopt;
  }
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

bool is_comment(std::string_view line) {
  return line.empty() || line.front() == '#';
}

class RudyReader : public TextLines {
 public:
  RudyReader(std::string text, const std::string& name) : TextLines(std::move(text), name) {
    if (text_.find('\0') != std::string::npos) refuse("the file holds a byte 0, it is no text");
  }

  Model read() {
    read_counts();
    while (next_edge()) {
    }
    if (model_.couplings.size() != edges_) {
      refuse(fmt::format("the file ends after {} edges; its first line announces {}",
                         model_.couplings.size(), edges_));
    }
    check_pairs();
    Model result;
    result.objective = Objective{"cut", true, sum_ / 2};
    result.value = std::move(model_);
    return result;
  }

 private:
  bool next_words(std::vector<std::string_view>& words) {
    std::string_view line;
    while (next_line(line)) {
      if (is_comment(line)) continue;
      words = words_of(line);
      return true;
    }
    return false;
  }

  void read_counts() {
    std::vector<std::string_view> words;
    if (!next_words(words) || words.size() != 2) refuse("expected 'n m', two whole numbers");
    const auto n = whole_number(words[0]), m = whole_number(words[1]);
    if (!n || *n < 1 || *n > kMostVertices) {
      refuse(fmt::format("the number of vertices is '{}'; expected 1 to {}",
                         shown_word(words[0], kShown), kMostVertices));
    }
    if (!m || *m < 0) {
      refuse(fmt::format("the number of edges is '{}'; expected a whole number",
                         shown_word(words[1], kShown)));
    }
    model_.n = static_cast<int>(*n);
    model_.fields.resize(static_cast<std::size_t>(*n));
    edges_ = static_cast<std::size_t>(*m);
    // What is announced takes no memory before it is there.
    model_.couplings.reserve(std::min(edges_, rest_.size() / kShortestEdge + 1));
  }

  int vertex(std::string_view word) const {
    const auto v = whole_number(word);
    if (!v || *v < 1 || *v > model_.n) {
      refuse(fmt::format("'{}' is no vertex; they count from 1 to {}", shown_word(word, kShown),
                         model_.n));
    }
    return static_cast<int>(*v) - 1;
  }

  bool next_edge() {
    std::vector<std::string_view> words;
    if (!next_words(words)) return false;
    if (model_.couplings.size() == edges_) {
      refuse(fmt::format("there are more edges than the {} of the first line", edges_));
    }
    if (words.size() != 2 && words.size() != 3) {
      refuse(fmt::format("an edge is 'i j' or 'i j w', but the line has {} words", words.size()));
    }
    if (words_ == 0) words_ = words.size();
    if (words.size() != words_) refuse("some edges have a weight and some have none");
    const int i = vertex(words[0]), j = vertex(words[1]);
    if (i == j) refuse(fmt::format("the edge joins vertex {} to itself", i + 1));
    double w = 1;
    if (words.size() == 3) {
      const auto given = weight_in(words[2]);
      if (!given) {
        refuse(fmt::format("the weight is '{}'; expected a finite number",
                           shown_word(words[2], kShown)));
      }
      w = *given;
    }
    sum_ += w;
    model_.couplings.push_back({i, j, -w / 2});
    lines_.push_back(line_number_);
    return true;
  }

  // Names the line of an edge that repeats one before it.
  void check_pairs() {
    std::vector<std::size_t> order(model_.couplings.size());
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
    const auto pair = [&](std::size_t k) {
      const Coupling& c = model_.couplings[k];
      return std::pair(std::min(c.i, c.j), std::max(c.i, c.j));
    };
    std::ranges::stable_sort(order, {}, pair);
    std::optional<std::size_t> repeats;
    for (std::size_t k = 1; k < order.size(); ++k) {
      if (pair(order[k]) == pair(order[k - 1]))
        repeats = std::min(repeats.value_or(order[k]), order[k]);
    }
    if (!repeats) return;
    line_number_ = lines_[*repeats];
    refuse(fmt::format("the edge between {} and {} is there twice", pair(*repeats).first + 1,
                       pair(*repeats).second + 1));
  }

  IsingModel model_;
  std::size_t edges_ = 0, words_ = 0;
  double sum_ = 0;
  std::vector<std::size_t> lines_;  // of the edges
};

}  // namespace

bool looks_like_rudy(const std::string& text) {
  std::string_view rest(text);
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (rest.starts_with(byte_order_mark)) rest.remove_prefix(byte_order_mark.size());
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = trimmed(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (is_comment(line)) continue;
    const auto words = words_of(line);
    return words.size() == 2 && whole_number(words[0]) && whole_number(words[1]);
  }
  return false;
}

Model read_rudy(std::string text, const std::string& name) {
  return RudyReader(std::move(text), name).read();
}

}  // namespace saltus
