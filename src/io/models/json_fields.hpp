// Reading JSON strictly: every key is once in its object, every number finite; every field is asked
// for by name and kind, and what was never asked for is refused. Messages name the source, the
// field and the value.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace saltus {

// Throws DataError that names the source and the place inside it.
nlohmann::json parse_strictly(const std::string& text, const std::string& source);

class JsonFields {
 public:
  using Json = nlohmann::json;

  JsonFields(const Json& object, std::string source);

  bool has(const std::string& field) const { return object_.contains(field); }
  const Json& at(const std::string& field);  // must be there
  double number(const std::string& field) { return number(at(field), field); }
  int size(const std::string& field, int low, int high) {
    return size(at(field), field, low, high);
  }
  bool boolean(const std::string& field);
  std::string string(const std::string& field);
  std::vector<double> numbers(const std::string& field) { return numbers(at(field), field); }

  // Elements inside a field; `where` is how the message calls them, "couplings[3][2]" say.
  double number(const Json& value, const std::string& where) const;
  std::int64_t integer(const Json& value, const std::string& where, std::int64_t low,
                       std::int64_t high) const;
  int size(const Json& value, const std::string& where, int low, int high) const {
    return static_cast<int>(integer(value, where, low, high));
  }
  std::vector<double> numbers(const Json& value, const std::string& where) const;
  const Json& array(const Json& value, const std::string& where) const;

  // Refuses fields that were never asked for.
  void finish() const;
  [[noreturn]] void refuse(const std::string& where, const std::string& problem) const;

 private:
  const Json& object_;
  std::string source_;
  std::set<std::string> used_;
};

}  // namespace saltus
