#include "c/options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/closest_name.hpp"
#include "core/number_text.hpp"
#include "saltus/core/error.hpp"

namespace saltus::c {
namespace {

using Json = nlohmann::json;

std::string shown(const Json& value) {
  const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

std::optional<std::int64_t> whole(const Json& value) {
  if (value.is_number_integer() &&
      (!value.is_number_unsigned() ||
       value.get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX))) {
    return value.get<std::int64_t>();
  }
  if (value.is_number_float()) {  // 1e6
    const auto v = value.get<double>();
    if (v == std::trunc(v) && std::abs(v) <= 0x1p53) return static_cast<std::int64_t>(v);
  }
  return std::nullopt;
}

std::int64_t whole_in(const Options& options, const char* name, const Json& value, std::int64_t low,
                      std::int64_t high) {
  const auto v = whole(value);
  if (!v) options.refuse(name, "a whole number");
  if (*v < low || *v > high) {
    options.refuse(name, high >= INT32_MAX
                             ? fmt::format("a whole number from {} on", low)
                             : fmt::format("a whole number from {} to {}", low, high));
  }
  return *v;
}

std::string setting_text(const std::string& name, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  if (value.is_number()) return value.dump();
  std::string list;
  if (value.is_array()) {
    for (const Json& entry : value) {
      if (!entry.is_number())
        throw UsageError(name + " has the entry " + shown(entry) + "; expected numbers");
      list += (list.empty() ? "" : ",") + setting_text(name, entry);
    }
    return list;
  }
  throw UsageError(name + " is " + shown(value) + "; expected a number, a word or a list");
}

}  // namespace

Options::Options(const char* text) : object_(Json::object()) {
  if (!text || !*text) return;
  try {
    object_ = Json::parse(text);
  } catch (const Json::exception&) {
    throw UsageError("the options are no JSON text: " + std::string(text).substr(0, 60));
  }
  if (!object_.is_object()) throw UsageError("the options are no JSON object");
  // null: as if it were not given
  for (auto it = object_.begin(); it != object_.end();) {
    it = it->is_null() ? object_.erase(it) : std::next(it);
  }
}

bool Options::has(const char* name) {
  known_.emplace_back(name);
  return object_.contains(name);
}

const Json& Options::at(const char* name) {
  if (!has(name)) throw UsageError("the option " + std::string(name) + " is missing");
  return object_.at(name);
}

void Options::refuse(const char* name, const std::string& expected) const {
  throw UsageError(fmt::format("{} is {}; expected {}", name, shown(object_.at(name)), expected));
}

void Options::take(const char* name, bool& value) {
  if (!has(name)) return;
  if (!object_.at(name).is_boolean()) refuse(name, "true or false");
  value = object_.at(name).get<bool>();
}

void Options::take(const char* name, std::string& value) {
  if (!has(name)) return;
  if (!object_.at(name).is_string()) refuse(name, "a text");
  value = object_.at(name).get<std::string>();
}

void Options::take(const char* name, int& value, std::int64_t low, std::int64_t high) {
  if (has(name)) value = static_cast<int>(whole_in(*this, name, object_.at(name), low, high));
}

void Options::take(const char* name, std::uint64_t& value, std::int64_t low) {
  if (!has(name)) return;
  value = static_cast<std::uint64_t>(
      whole_in(*this, name, object_.at(name), low, std::int64_t{1} << 53));
}

void Options::take(const char* name, double& value, double low) {
  if (!has(name)) return;
  const Json& given = object_.at(name);
  if (!given.is_number() || !std::isfinite(given.get<double>())) refuse(name, "a number");
  if (given.get<double>() < low) refuse(name, fmt::format("a number from {} on", low));
  value = given.get<double>();
}

void Options::take(const char* name, std::vector<std::string>& value) {
  if (!has(name)) return;
  const Json& given = object_.at(name);
  const bool texts = given.is_array() && std::ranges::all_of(given, [](const Json& entry) {
                       return entry.is_string();
                     });
  if (!texts) refuse(name, "a list of texts");
  value = given.get<std::vector<std::string>>();
}

void Options::take(const char* name, std::vector<double>& value) {
  if (!has(name)) return;
  const Json& given = object_.at(name);
  const bool numbers = given.is_array() && std::ranges::all_of(given, [](const Json& entry) {
                         return entry.is_number() && std::isfinite(entry.get<double>());
                       });
  if (!numbers) refuse(name, "a list of numbers");
  value = given.get<std::vector<double>>();
}

void Options::take_seed(std::uint64_t& seed) {
  if (!has("seed")) return;
  const Json& given = object_.at("seed");
  const std::string text = given.is_string() ? given.get<std::string>() : given.dump();
  const auto number = number_in<std::uint64_t>(text);
  if (!number) refuse("seed", "a whole number from 0 to 2^64 - 1");
  seed = *number;
}

void Options::take_sampler(std::string& sampler, Settings& settings) {
  take("sampler", sampler);
  if (has("set")) settings = settings_in(object_.at("set"));
}

void Options::finish() const {
  for (const auto& [name, value] : object_.items()) {
    if (std::ranges::find(known_, name) != known_.end()) continue;
    throw UsageError("there is no option '" + name + "'" + did_you_mean(name, known_));
  }
}

Settings settings_in(const Json& object) {
  if (!object.is_object()) throw UsageError("set is " + shown(object) + "; expected an object");
  Settings settings;
  for (const auto& [name, value] : object.items()) {
    if (!value.is_null()) settings[name] = setting_text(name, value);
  }
  return settings;
}

Domain domain_in(const char* text) {
  Options o(text);
  std::string kind = "ordered";
  o.take("kind", kind);
  int dim = 0;
  o.take("dim", dim, 1);
  std::vector<int> each;
  int levels = kind == "integers" ? Domain::kMaxLevels : 2;
  if (o.has("levels") && o.at("levels").is_array()) {
    for (const Json& entry : o.at("levels")) {
      const auto count = whole(entry);
      if (!count || *count < 1 || *count > Domain::kMaxLevels) {
        o.refuse("levels", fmt::format("whole numbers from 1 to {}", Domain::kMaxLevels));
      }
      each.push_back(static_cast<int>(*count));
    }
  } else {
    o.take("levels", levels, kind == "categorical" ? 1 : 2, Domain::kMaxLevels);
  }
  double first = 0, spacing = 1;
  o.take("first_value", first);
  o.take("spacing", spacing);
  o.finish();
  if (each.empty() && dim == 0) throw UsageError("the dimension dim is missing");
  if (dim > 0 && !each.empty() && static_cast<int>(each.size()) != dim) {
    throw UsageError(fmt::format("levels has {} entries, dim is {}", each.size(), dim));
  }
  // Of values only those of spins differ from the index.
  if (kind == "spin" || (kind == "ordered" && first == -1 && spacing == 2 && each.empty())) {
    if (levels != 2) throw UsageError("spins have two levels");
    return Domain::spin(dim);
  }
  if (kind == "binary") return Domain::binary(dim);
  if (kind == "integers") return Domain::integers(dim, levels);
  if (kind == "ordered") return each.empty() ? Domain::ordered(dim, levels) : Domain::ordered(each);
  if (kind == "categorical") {
    return each.empty() ? Domain::categorical(dim, levels) : Domain::categorical(each);
  }
  throw UsageError("kind is '" + kind +
                   "'; expected binary, spin, ordered, categorical or integers");
}

}  // namespace saltus::c
