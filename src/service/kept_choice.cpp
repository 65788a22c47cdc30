#include "service/kept_choice.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>

#include "core/checksum.hpp"
#include "io/bytes/byte_file.hpp"
#include "ops/ops.hpp"
#include "saltus/core/error.hpp"
#include "saltus/version.hpp"

namespace saltus {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kMostKept = 1000;  // files in the folder

std::string sum_of(const std::string& text) {
  Checksum sum;
  sum.add_bytes(text.data(), text.size());
  return sum.text();
}

// JSON has no NaN and no infinity.
Json any_number(double v) {
  return std::isfinite(v) ? Json(v) : Json(fmt::format("{}", v));
}
double number_from(const nlohmann::json& json) {
  return json.is_number() ? json.get<double>()
                          : std::strtod(json.get<std::string>().c_str(), nullptr);
}

Json contender_json(const Contender& c) {
  return {{"sampler", c.sampler}, {"settings", c.settings}, {"tempered", c.tempered}};
}
Contender contender_from(const nlohmann::json& json) {
  return {json.at("sampler").get<std::string>(), json.at("settings").get<Settings>(),
          json.at("tempered").get<bool>()};
}

std::string host() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

// All that a race depends on, but for the clock. Threads and what becomes of the draws are left
// out: they do not change a draw.
std::string key_of(const SampleRequest& r) {
  Json key;
  key["version"] = version();
  key["machine"] = host();
  key["instruction_set"] = ops::name(ops::active_level());
  key["on_device"] = r.target->on_device() != nullptr;
  key["model"] = sum_of(r.model_text);
  key["model_files"] = r.model_files;
  key["settings"] = r.settings;
  key["chains"] = r.plan.chains;
  key["warmup"] = r.plan.warmup;
  key["draws"] = r.plan.draws;
  key["thin"] = r.plan.thin;
  key["seed"] = std::to_string(r.plan.seed);
  key["plain"] = r.tempering.has_value() || r.start;
  return key.dump();
}

fs::path file_of(const SampleRequest& r, const std::string& key) {
  return fs::path(r.cache) / ("race-" + sum_of(key) + ".json");
}

bool keeps(const SampleRequest& r) {
  return !r.cache.empty() && !r.model_text.empty();
}

// The oldest files give way.
void make_room(const fs::path& folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename().string().starts_with("race-")) {
      files.emplace_back(entry.last_write_time(), entry.path());
    }
  }
  if (files.size() < kMostKept) return;
  std::sort(files.begin(), files.end());
  for (std::size_t k = 0; k <= files.size() - kMostKept; ++k) fs::remove(files[k].second);
}

}  // namespace

Json choice_to_json(const Choice& choice) {
  auto field = Json::array();
  for (const Standing& s : choice.results) {
    Json j = contender_json(s.contender);
    j["ess_per_second"] = any_number(s.ess_per_second);
    j["rhat"] = any_number(s.rhat);
    j["mixed"] = s.mixed;
    j["replicas"] = s.replicas;
    field.push_back(std::move(j));
  }
  return {{"winner", contender_json(choice.winner)},
          {"seconds", choice.seconds},
          {"modes", choice.modes},
          {"results", field}};
}

Choice choice_from_json(const nlohmann::json& json) {
  Choice choice;
  choice.winner = contender_from(json.at("winner"));
  choice.seconds = json.at("seconds").get<double>();
  choice.modes = json.at("modes").get<std::string>();
  for (const auto& j : json.at("results")) {
    choice.results.push_back({contender_from(j), number_from(j.at("ess_per_second")),
                              number_from(j.at("rhat")), j.at("mixed").get<bool>(),
                              j.at("replicas").get<int>()});
  }
  return choice;
}

// A line with the checksum of what follows: JSON.
std::optional<Choice> kept_choice(const SampleRequest& request) {
  if (!keeps(request)) return std::nullopt;
  const std::string key = key_of(request);
  std::ifstream file(file_of(request, key));
  std::string sum;
  if (!std::getline(file, sum)) return std::nullopt;
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (sum != sum_of(text)) return std::nullopt;
  try {
    const auto json = nlohmann::json::parse(text);
    if (json.at("key").get<std::string>() != key) return std::nullopt;
    Choice choice = choice_from_json(json.at("choice"));
    if (choice.results.empty()) return std::nullopt;
    choice.kept = true;
    return choice;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

void keep_choice(const SampleRequest& request, const Choice& choice) {
  if (!keeps(request)) return;
  const std::string key = key_of(request);
  const std::string text = Json{{"key", key}, {"choice", choice_to_json(choice)}}.dump() + "\n";
  try {
    fs::create_directories(request.cache);
    make_room(request.cache);
    replace_file(file_of(request, key), sum_of(text) + "\n" + text);
  } catch (const FileError&) {
  } catch (const fs::filesystem_error&) {
  }
}

}  // namespace saltus
