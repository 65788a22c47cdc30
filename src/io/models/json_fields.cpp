#include "io/models/json_fields.hpp"

#include <cmath>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

// A value for a message: short ones whole, long ones by their beginning.
std::string shown(const nlohmann::json& value) {
  const std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

}  // namespace

JsonFields::JsonFields(const Json& object, std::string source)
    : object_(object), source_(std::move(source)) {
  if (!object.is_object())
    throw DataError(source_ + ": expected a JSON object, not " + shown(object));
}

void JsonFields::refuse(const std::string& where, const std::string& problem) const {
  throw DataError(source_ + ": " + where + " " + problem);
}

const nlohmann::json& JsonFields::at(const std::string& field) {
  used_.insert(field);
  const auto it = object_.find(field);
  if (it == object_.end()) throw DataError(source_ + ": the field '" + field + "' is missing");
  return *it;
}

double JsonFields::number(const Json& value, const std::string& where) const {
  if (!value.is_number() || !std::isfinite(value.get<double>())) {
    refuse(where, "is " + shown(value) + ", not a finite number");
  }
  return value.get<double>();
}

std::int64_t JsonFields::integer(const Json& value, const std::string& where, std::int64_t low,
                                 std::int64_t high) const {
  const bool fits = value.is_number_unsigned()
                        ? value.get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX)
                        : value.is_number_integer();
  if (!fits) refuse(where, "is " + shown(value) + ", not a whole number");
  const auto v = value.get<std::int64_t>();
  if (v < low || v > high) {
    refuse(where, "is " + std::to_string(v) + "; it must be from " + std::to_string(low) + " to " +
                      std::to_string(high));
  }
  return v;
}

const nlohmann::json& JsonFields::array(const Json& value, const std::string& where) const {
  if (!value.is_array()) refuse(where, "is " + shown(value) + ", not a list");
  return value;
}

std::vector<double> JsonFields::numbers(const Json& value, const std::string& where) const {
  std::vector<double> out;
  out.reserve(array(value, where).size());
  for (const Json& element : value) {
    const double v = element.is_number() ? element.get<double>() : NAN;
    if (!std::isfinite(v)) number(element, where + "[" + std::to_string(out.size()) + "]");
    out.push_back(v);
  }
  return out;
}

bool JsonFields::boolean(const std::string& field) {
  const Json& value = at(field);
  if (!value.is_boolean()) refuse(field, "is " + shown(value) + ", not true or false");
  return value.get<bool>();
}
std::string JsonFields::string(const std::string& field) {
  const Json& value = at(field);
  if (!value.is_string()) refuse(field, "is " + shown(value) + ", not a text");
  return value.get<std::string>();
}

void JsonFields::finish() const {
  for (const auto& [key, value] : object_.items()) {
    if (!used_.contains(key)) {
      throw DataError(source_ + ": unknown field '" + key + "' with value " + shown(value));
    }
  }
}

}  // namespace saltus
