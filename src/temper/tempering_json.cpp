#include "temper/tempering_json.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

using Json = nlohmann::ordered_json;

Json number(double v) {
  return std::isfinite(v) ? Json(v) : Json(nullptr);
}

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double v : values) list.push_back(number(v));
  return list;
}

double number_at(const Json& json, const char* field) {
  const Json& value = json.at(field);
  return value.is_null() ? NAN : value.get<double>();
}

std::vector<double> numbers_at(const Json& json, const char* field) {
  std::vector<double> values;
  for (const Json& value : json.at(field)) {
    values.push_back(value.is_null() ? NAN : value.get<double>());
  }
  return values;
}

TemperingReport report_in(const Json& json) {
  TemperingReport r;
  r.betas = numbers_at(json, "betas");
  r.rejection = numbers_at(json, "rejection");
  r.barrier = number_at(json, "barrier");
  json.at("recommended_replicas").get_to(r.recommended_replicas);
  json.at("round_trips").get_to(r.round_trips);
  json.at("restarts").get_to(r.restarts);
  r.round_trip_rate = number_at(json, "round_trip_rate");
  r.rate_if_independent = number_at(json, "round_trip_rate_if_independent");
  r.rate_bound = number_at(json, "round_trip_rate_bound");
  const Json& log_z = json.at("log_z");
  r.log_z = number_at(log_z, "bridge");
  r.log_z_error = number_at(log_z, "standard_error");
  r.log_z_forward = number_at(log_z, "forward");
  r.log_z_backward = number_at(log_z, "backward");
  r.log_z_gap_error = number_at(log_z, "gap_error");
  r.step_size = numbers_at(json, "step_size");
  r.acceptance = numbers_at(json, "acceptance_rate");
  r.correlation = numbers_at(json, "correlation");
  json.at("paths").get_to(r.paths);
  return r;
}

bool fits(const TemperingReport& r) {
  const std::size_t slots = r.betas.size();
  const auto is_path = [&](const auto& row) {
    return row.size() == slots && std::ranges::all_of(row, [&](auto k) { return k < slots; });
  };
  return slots >= 2 && r.rejection.size() + 1 == slots && r.step_size.size() == slots &&
         r.acceptance.size() == slots && r.correlation.size() == slots &&
         std::ranges::all_of(r.paths, is_path);
}

}  // namespace

Json tempering_json(const TemperingReport& t) {
  std::vector<double> local;
  for (std::size_t k = 0; k < t.rejection.size(); ++k) {
    local.push_back(t.rejection[k] / (t.betas[k + 1] - t.betas[k]));
  }
  return {{"replicas", t.betas.size()},
          {"betas", numbers(t.betas)},
          {"rejection", numbers(t.rejection)},
          {"local_barrier", numbers(local)},
          {"barrier", number(t.barrier)},
          {"recommended_replicas", t.recommended_replicas},
          {"round_trips", t.round_trips},
          {"restarts", t.restarts},
          {"round_trip_rate", number(t.round_trip_rate)},
          {"round_trip_rate_if_independent", number(t.rate_if_independent)},
          {"round_trip_rate_bound", number(t.rate_bound)},
          {"log_z",
           {{"bridge", number(t.log_z)},
            {"standard_error", number(t.log_z_error)},
            {"forward", number(t.log_z_forward)},
            {"backward", number(t.log_z_backward)},
            {"gap_error", number(t.log_z_gap_error)}}},
          {"step_size", numbers(t.step_size)},
          {"acceptance_rate", numbers(t.acceptance)},
          {"correlation", numbers(t.correlation)}};
}

std::string tempering_record(const TemperingReport& report) {
  Json json = tempering_json(report);
  json["paths"] = report.paths;
  return json.dump();
}

TemperingReport read_tempering_record(const std::string& text) {
  try {
    TemperingReport report = report_in(Json::parse(text));
    if (fits(report)) return report;
  } catch (const nlohmann::json::exception&) {
    // said below
  }
  throw DataError("the record of tempering does not fit");
}

}  // namespace saltus
