#include "saltus/diagnose/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "core/number_text.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

constexpr std::size_t kLongest = 4096;  // characters
constexpr int kDeepest = 50;            // expressions within expressions
constexpr const char* kAtoms =
    "a number, x, level, logp, '(', or sum, mean, count, abs, min or max with its '('";

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

// Recursive descent; every function leaves the steps of what it has read, and returns whether that
// is a list, and how long.
class ExpressionParser {
 public:
  ExpressionParser(const std::string& text, Expression& to) : text_(text), to_(to) {}

  void parse() {
    if (text_.size() > kLongest) {
      refuse(fmt::format("it is longer than {} characters", with_commas(kLongest)));
    }
    read_name();
    const Length length = comparison();
    if (!at_end()) expect("an operator or the end");
    if (length) {
      refuse(
          fmt::format("it is a list of {} numbers, but one number is expected: put it into "
                      "sum(), mean(), count(), min() or max()",
                      with_commas(static_cast<std::uint64_t>(*length))));
    }
  }

 private:
  using Op = Expression::Op;
  using Length = std::optional<int>;  // none: one number

  [[noreturn]] void refuse(const std::string& why) const {
    throw UsageError(fmt::format("the observable '{}' cannot be used: {}", text_, why));
  }
  [[noreturn]] void refuse_at(std::size_t place, const std::string& why) const {
    refuse(fmt::format("at character {}, {}", place + 1, why));
  }
  [[noreturn]] void expect(const std::string& what) {
    refuse_at(at_, fmt::format("expected {}, but {}", what,
                               at_end() ? "the text ends" : "there is '" + word_here() + "'"));
  }

  bool at_end() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    return at_ == text_.size();
  }
  // A name, or one character, of however many bytes.
  std::string word_here() const {
    std::size_t end = at_ + 1;
    const auto goes_on = [&](char c) {
      return is_letter(text_[at_]) ? is_letter(c) || is_digit(c) : (c & 0xC0) == 0x80;
    };
    while (end < text_.size() && goes_on(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }
  bool take(const char* sign) {
    if (at_end() || text_.compare(at_, std::char_traits<char>::length(sign), sign) != 0) {
      return false;
    }
    at_ += std::char_traits<char>::length(sign);
    return true;
  }
  void need(const char* sign, const char* what) {
    if (!take(sign)) expect(what);
  }

  // NAME =, which no comparison is.
  void read_name() {
    to_.name_ = text_;
    if (at_end() || !is_letter(text_[at_])) return;
    const std::size_t begin = at_;
    const std::string word = word_here();
    at_ += word.size();
    if (!at_end() && text_[at_] == '=' && (at_ + 1 == text_.size() || text_[at_ + 1] != '=')) {
      to_.name_ = word;
      ++at_;
    } else {
      at_ = begin;
    }
  }

  Length combine(Op op, Length a, Length b, std::size_t place) {
    if (a && b && *a != *b) {
      refuse_at(place, fmt::format("a list of {} numbers meets one of {}: expected lists of the "
                                   "same length, or a list and a number",
                                   with_commas(static_cast<std::uint64_t>(*a)),
                                   with_commas(static_cast<std::uint64_t>(*b))));
    }
    to_.steps_.push_back({op});
    return a ? a : b;
  }

  Length comparison() {
    const Nesting nesting(*this);
    const Length left = sum();
    at_end();
    const std::size_t place = at_;
    constexpr std::pair<const char*, Op> kSigns[] = {{"==", Op::equal},         {"!=", Op::unequal},
                                                     {"<=", Op::less_equal},    {"<", Op::less},
                                                     {">=", Op::greater_equal}, {">", Op::greater}};
    for (const auto& [sign, op] : kSigns) {
      if (take(sign)) return combine(op, left, sum(), place);
    }
    if (!at_end() && text_[at_] == '=') expect("'==', which compares");
    return left;
  }

  Length sum() {
    Length length = product();
    for (;;) {
      at_end();
      const std::size_t place = at_;
      const bool plus = take("+");
      if (!plus && !take("-")) return length;
      length = combine(plus ? Op::add : Op::subtract, length, product(), place);
    }
  }

  Length product() {
    Length length = sign();
    for (;;) {
      at_end();
      const std::size_t place = at_;
      const bool times = take("*");
      if (!times && !take("/")) return length;
      length = combine(times ? Op::multiply : Op::divide, length, sign(), place);
    }
  }

  Length sign() {
    const Nesting nesting(*this);
    if (!take("-")) return power();
    const Length length = sign();
    to_.steps_.push_back({Op::negate});
    return length;
  }

  Length power() {
    const Length base = atom();
    at_end();
    const std::size_t place = at_;
    return take("^") ? combine(Op::power, base, sign(), place) : base;
  }

  Length atom() {
    if (take("(")) {
      const Length length = comparison();
      need(")", "')'");
      return length;
    }
    if (at_end()) expect(kAtoms);
    if (is_digit(text_[at_]) || text_[at_] == '.') {
      to_.steps_.push_back({Op::number, number()});
      return std::nullopt;
    }
    const std::string word = word_here();
    if (word == "x" || word == "level") {
      at_ += word.size();
      return place(word == "x" ? Op::x : Op::level);
    }
    if (word == "logp") {
      at_ += word.size();
      to_.steps_.push_back({Op::logp});
      return std::nullopt;
    }
    return call(word);
  }

  Length call(const std::string& word) {
    constexpr std::pair<const char*, Op> kFunctions[] = {{"sum", Op::sum},     {"mean", Op::mean},
                                                         {"count", Op::count}, {"abs", Op::abs},
                                                         {"min", Op::least},   {"max", Op::most}};
    const auto* const found =
        std::ranges::find_if(kFunctions, [&](const auto& f) { return word == f.first; });
    if (found == std::end(kFunctions)) expect(kAtoms);
    at_ += word.size();
    need("(", "'('");
    Length length = comparison();
    const bool of_one = found->second != Op::least && found->second != Op::most;
    if (of_one || !take(",")) {
      need(")", of_one ? "')'" : "',' or ')'");
      to_.steps_.push_back({found->second});
      return found->second == Op::abs ? length : std::nullopt;
    }
    do {
      const std::size_t place = at_;
      length = combine(found->second == Op::least ? Op::min : Op::max, length, comparison(), place);
    } while (take(","));
    need(")", "',' or ')'");
    return length;
  }

  double number() {
    double value = 0;
    const char *begin = text_.data() + at_, *end = text_.data() + text_.size();
    const auto [stop, error] = std::from_chars(begin, end, value);
    if (error == std::errc::result_out_of_range) refuse_at(at_, "the number is too large or small");
    if (error != std::errc{}) expect("a number");
    at_ += static_cast<std::size_t>(stop - begin);
    return value;
  }

  int whole(const char* what) {
    if (at_end() || !is_digit(text_[at_])) expect(what);
    int value = 0;
    const char *begin = text_.data() + at_, *end = text_.data() + text_.size();
    const auto [stop, error] = std::from_chars(begin, end, value);
    if (error != std::errc{}) refuse_at(at_, "the number is too large");
    at_ += static_cast<std::size_t>(stop - begin);
    return value;
  }

  // What stands behind x: nothing, [3], [2,3], [0:10], [:10] or [5:].
  Length place(Op op) {
    const int dim = to_.space_.dim;
    if (!take("[")) return push_entries(op, 0, dim);
    const std::size_t begin = at_;
    if (take(":")) return slice(op, 0, begin);
    std::vector<int> numbers = {whole("the number of a coordinate")};
    if (take(":")) return slice(op, numbers[0], begin);
    while (take(",")) numbers.push_back(whole("the number of a coordinate"));
    need("]", numbers.size() == 1 ? "']', ',' or ':'" : "']' or ','");
    push_entries(op, index_of(numbers, begin), 1);
    return std::nullopt;
  }

  Length slice(Op op, int first, std::size_t begin) {
    int end = to_.space_.dim;
    if (!take("]")) {
      end = whole("the number of a coordinate or ']'");
      need("]", "']'");
    }
    if (first >= end || end > to_.space_.dim) {
      refuse_at(begin, fmt::format("the entries {}:{} do not exist: expected FIRST:END with "
                                   "0 <= FIRST < END <= {}",
                                   first, end, to_.space_.dim));
    }
    return push_entries(op, first, end - first);
  }

  Length push_entries(Op op, int first, int count) {
    to_.steps_.push_back({op, 0, first, count});
    return count;
  }

  // Rows come one after the other, as everywhere.
  int index_of(const std::vector<int>& numbers, std::size_t begin) const {
    const std::vector<int>& shape = to_.space_.shape;
    const std::vector<int> sides = numbers.size() == 1 ? std::vector<int>{to_.space_.dim} : shape;
    if (numbers.size() != sides.size()) {
      refuse_at(begin, fmt::format("there are {} numbers, but the model's coordinates have {}",
                                   numbers.size(), std::max<std::size_t>(1, shape.size())));
    }
    int index = 0;
    for (std::size_t k = 0; k < sides.size(); ++k) {
      if (numbers[k] >= sides[k]) {
        refuse_at(begin, fmt::format("there is no coordinate {}: expected 0 to {}", numbers[k],
                                     sides[k] - 1));
      }
      index = index * sides[k] + numbers[k];
    }
    return index;
  }

  // Bounds the recursion, whatever the text.
  class Nesting {
   public:
    explicit Nesting(ExpressionParser& parser) : parser_(parser) {
      if (++parser_.depth_ > 2 * kDeepest) {
        parser_.refuse_at(parser_.at_, fmt::format("expressions lie within expressions more than "
                                                   "{} deep",
                                                   kDeepest));
      }
    }
    ~Nesting() { --parser_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    ExpressionParser& parser_;
  };

  const std::string& text_;
  Expression& to_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

Expression::Expression(const std::string& text, const ExpressionSpace& space) : space_(space) {
  const std::int64_t entries =
      std::accumulate(space.shape.begin(), space.shape.end(), std::int64_t{1}, std::multiplies<>());
  if (space.shape.empty() || entries != space.dim) space_.shape = {space.dim};
  ExpressionParser(text, *this).parse();
}

namespace {

using List = std::vector<double>;

// Entry by entry; a single number meets every entry of a list. The result takes the place of a.
template <class F>
void combine_lists(List& a, List& b, F&& f) {
  if (a.size() < b.size()) {
    for (double& v : b) v = f(a[0], v);
    a.swap(b);
  } else if (b.size() == 1) {
    for (double& v : a) v = f(v, b[0]);
  } else {
    std::transform(a.begin(), a.end(), b.begin(), a.begin(), f);
  }
}

}  // namespace

double Expression::value(const Symbol* levels, double logp, Room& room) const {
  std::size_t top = 0;  // lists in use
  const auto push = [&](std::size_t size) -> List& {
    if (top == room.size()) room.emplace_back();
    room[top].resize(size);
    return room[top++];
  };
  const auto entries = [&](const Step& s, double first_value, double spacing) {
    std::transform(levels + s.first, levels + s.first + s.count,
                   push(static_cast<std::size_t>(s.count)).begin(),
                   [&](Symbol k) { return first_value + spacing * k; });
  };
  const auto each = [&](auto&& f) {
    std::transform(room[top - 1].begin(), room[top - 1].end(), room[top - 1].begin(), f);
  };
  const auto reduce = [&](auto&& f) { room[top - 1] = {f(std::as_const(room[top - 1]))}; };
  const auto two = [&](auto&& f) {
    combine_lists(room[top - 2], room[top - 1], f);
    --top;
  };
  const auto sum_of = [](const List& v) { return std::accumulate(v.begin(), v.end(), 0.0); };
  for (const Step& s : steps_) {
    switch (s.op) {
      case Op::number:
        push(1)[0] = s.number;
        break;
      case Op::logp:
        push(1)[0] = logp;
        break;
      case Op::x:
        entries(s, space_.first_value, space_.spacing);
        break;
      case Op::level:
        entries(s, 0, 1);
        break;
      case Op::negate:
        each([](double v) { return -v; });
        break;
      case Op::abs:
        each([](double v) { return std::abs(v); });
        break;
      case Op::sum:
        reduce(sum_of);
        break;
      case Op::mean:
        reduce([&](const List& v) { return sum_of(v) / static_cast<double>(v.size()); });
        break;
      case Op::count:
        reduce([](const List& v) {
          return static_cast<double>(v.size()) -
                 static_cast<double>(std::count(v.begin(), v.end(), 0.0));
        });
        break;
      case Op::least:
        reduce([](const List& v) { return *std::ranges::min_element(v); });
        break;
      case Op::most:
        reduce([](const List& v) { return *std::ranges::max_element(v); });
        break;
      case Op::add:
        two([](double a, double b) { return a + b; });
        break;
      case Op::subtract:
        two([](double a, double b) { return a - b; });
        break;
      case Op::multiply:
        two([](double a, double b) { return a * b; });
        break;
      case Op::divide:
        two([](double a, double b) { return a / b; });
        break;
      case Op::power:
        two([](double a, double b) { return std::pow(a, b); });
        break;
      case Op::min:
        two([](double a, double b) { return std::min(a, b); });
        break;
      case Op::max:
        two([](double a, double b) { return std::max(a, b); });
        break;
      case Op::equal:
        two([](double a, double b) { return a == b ? 1.0 : 0.0; });
        break;
      case Op::unequal:
        two([](double a, double b) { return a != b ? 1.0 : 0.0; });
        break;
      case Op::less:
        two([](double a, double b) { return a < b ? 1.0 : 0.0; });
        break;
      case Op::less_equal:
        two([](double a, double b) { return a <= b ? 1.0 : 0.0; });
        break;
      case Op::greater:
        two([](double a, double b) { return a > b ? 1.0 : 0.0; });
        break;
      case Op::greater_equal:
        two([](double a, double b) { return a >= b ? 1.0 : 0.0; });
        break;
    }
  }
  return room[0][0];
}

std::vector<Expression> parse_expressions(const std::vector<std::string>& texts,
                                          const ExpressionSpace& space) {
  std::vector<Expression> list;
  for (const std::string& text : texts) {
    Expression next(text, space);
    if (std::ranges::find(list, next.name(), &Expression::name) != list.end()) {
      throw UsageError("two observables have the name '" + next.name() +
                       "': give one of them another, as in NAME = mean(x)");
    }
    list.push_back(std::move(next));
  }
  return list;
}

}  // namespace saltus
