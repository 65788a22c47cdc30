#include "io/strict_json.hpp"

#include <set>
#include <vector>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

constexpr std::size_t kLongestPlace = 80;
constexpr std::size_t kDeepest = 64;

// Reads along without building anything and knows where it is: "couplings[3][2]".
class Walker : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Walker(std::string source) : source_(std::move(source)) {}

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t) override { return value(); }
  bool number_unsigned(number_unsigned_t) override { return value(); }
  bool number_float(number_float_t, const string_t&) override { return value(); }
  bool string(string_t&) override { return value(); }
  bool binary(binary_t&) override { return value(); }
  bool start_object(std::size_t) override { return enter({}); }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override { return enter({{}, {}, 0}); }
  bool end_array() override { return leave(); }

  bool key(string_t& name) override {
    Level& level = levels_.back();
    level.key = name;
    if (!level.seen.insert(name).second) {
      throw DataError(source_ + ": the field '" + place() + "' is given twice");
    }
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::json::exception& error) override {
    if (error.id == 406) {  // a number too large for any type
      throw DataError(source_ + ": " + place() + " is " + token + ", not a finite number");
    }
    throw DataError(source_ + ": not valid JSON at byte " + std::to_string(position) +
                    (levels_.empty() ? "" : ", in " + place()));
  }

 private:
  struct Level {
    std::string key;             // of an object: the member being read
    std::set<std::string> seen;  // of an object: members so far
    long index = -1;             // of an array: the element being read
  };

  bool enter(Level level) {
    if (levels_.size() == kDeepest) throw DataError(source_ + ": it is nested too deeply");
    levels_.push_back(std::move(level));
    return true;
  }
  bool value() {
    if (!levels_.empty() && levels_.back().index >= 0) ++levels_.back().index;
    return true;
  }
  bool leave() {
    levels_.pop_back();
    return value();
  }
  std::string place() const {
    std::string text;
    for (const Level& level : levels_) {
      if (level.index >= 0) {
        text += "[" + std::to_string(level.index) + "]";
      } else if (!level.key.empty()) {
        text += (text.empty() ? "" : ".") + level.key;
      }
    }
    if (text.size() > kLongestPlace) text = text.substr(0, kLongestPlace) + "...";
    return text.empty() ? "the beginning" : text;
  }

  std::string source_;
  std::vector<Level> levels_;
};

}  // namespace

nlohmann::json parse_strictly(const std::string& text, const std::string& source) {
  Walker walker(source);
  nlohmann::json::sax_parse(text, &walker);
  return nlohmann::json::parse(text);
}

}  // namespace saltus
