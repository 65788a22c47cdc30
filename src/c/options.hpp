// Options of the C interface: a JSON object, each of whose fields is asked for by name and kind.
// What does not fit is a UsageError that names the option and the value.
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "saltus/core/domain.hpp"
#include "saltus/sampler/settings.hpp"

namespace saltus::c {

class Options {
 public:
  using Json = nlohmann::json;

  // Null or empty: none.
  explicit Options(const char* text);

  bool has(const char* name);
  const Json& at(const char* name);  // must be there
  // `value` stays as it is where the option is not given.
  void take(const char* name, bool& value);
  void take(const char* name, std::string& value);
  void take(const char* name, int& value, std::int64_t low, std::int64_t high = INT32_MAX);
  void take(const char* name, std::uint64_t& value, std::int64_t low);
  void take(const char* name, double& value, double low = -INFINITY);
  void take(const char* name, std::vector<std::string>& value);
  void take(const char* name, std::vector<double>& value);
  void take_seed(std::uint64_t& seed);  // a number, or a text
  // "sampler" and "set".
  void take_sampler(std::string& sampler, Settings& settings);

  // Refuses options that nobody asked for.
  void finish() const;
  [[noreturn]] void refuse(const char* name, const std::string& expected) const;

 private:
  Json object_;
  std::vector<std::string> known_;
};

// Parameters of a sampler: numbers, words, booleans, lists of numbers; null stands for the default.
Settings settings_in(const nlohmann::json& object);
// As saltus_model_function describes it.
Domain domain_in(const char* text);

}  // namespace saltus::c
