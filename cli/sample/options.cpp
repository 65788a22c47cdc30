#include "cli/sample/options.hpp"

#include <nlohmann/json.hpp>

#include "cli/option_checks.hpp"
#include "io/bytes/strict_json.hpp"
#include "io/models/json_fields.hpp"
#include "saltus/core/error.hpp"
#include "saltus/io/draw_files.hpp"
#include "saltus/io/model_file.hpp"
#include "saltus/run/checkpoint.hpp"
#include "saltus/version.hpp"

namespace saltus::cli {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 53;

void check(const SampleRequest& r) {
  const double steps = static_cast<double>(r.plan.draws) * static_cast<double>(r.plan.thin) +
                       static_cast<double>(r.plan.warmup);
  if (steps > static_cast<double>(kMost)) {
    throw UsageError("the run would take more than 2^53 steps: lower --draws, --thin or --warmup");
  }
  if (r.record != "draws" && r.record != "moments") {
    throw UsageError("--record " + r.record + ": expected draws or moments");
  }
  if (!r.out.empty() && r.record == "moments") {
    throw UsageError("--out needs the draws, but --record moments keeps none");
  }
  std::string why;
  if (!r.out.empty() && !can_write_draws(r.out, &why)) throw UsageError(why);
  FileRoles roles;
  roles.reads("MODEL", r.model.model);
  roles.reads("--init", r.init);
  for (const auto& [key, value] : r.settings) roles.reads("--set " + key, value);
  roles.reads(r.model_files);
  if (r.checkpoint != r.resume) roles.reads("--resume", r.resume);
  roles.saves(r.checkpoint);
  roles.writes("--out", r.out);
}

}  // namespace

Settings parse_settings(const std::vector<std::string>& list) {
  Settings settings;
  for (const std::string& text : list) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
      throw UsageError("--set " + text + ": expected KEY=VALUE");
    }
    if (!settings.emplace(text.substr(0, equals), text.substr(equals + 1)).second) {
      throw UsageError("--set " + text + ": the parameter is given twice");
    }
  }
  return settings;
}

SampleOptions::SampleOptions(CLI::App& command) : command_(command) {
  SampleRequest& r = given_;
  const auto whole = CLI::Range(std::int64_t{1}, kMost);
  const auto whole_or_none = CLI::Range(std::int64_t{0}, kMost);
  add_model_options(command, r.model);
  command
      .add_option("--sampler", r.sampler,
                  "Sampler ('saltus samplers' lists them), or auto: the best in a short race")
      ->capture_default_str();
  command.add_option("--set", set_, "Sampler parameter KEY=VALUE, repeatable")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command.add_option("--chains", r.plan.chains, "Chains")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000'000));
  command.add_option("--warmup", r.plan.warmup, "Warm-up steps")
      ->capture_default_str()
      ->check(whole_or_none);
  command.add_option("--draws", r.plan.draws, "Draws of each chain")
      ->capture_default_str()
      ->check(whole);
  command.add_option("--thin", r.plan.thin, "Steps per draw")->capture_default_str()->check(whole);
  command.add_option("--seed", seed_, "Random seed, 0 to 2^64 - 1")->capture_default_str();
  command
      .add_option("--threads", r.plan.threads, "Threads (default: all cores); never changes a draw")
      ->check(CLI::Range(1, 4096));
  command.add_option("--tile", r.plan.tile, "Chains advanced together (default: by model)")
      ->check(CLI::Range(1, 1'000'000));
  command.add_option("--init", r.init, "Start: random, or a file with one row per chain")
      ->capture_default_str();
  command.add_option("--record", r.record, "Keep draws, or running moments alone")
      ->capture_default_str()
      ->type_name("draws|moments");
  command.add_option("--out", r.out, "Write the draws: FILE.nc, FILE.npz or FILE.csv")
      ->type_name("FILE");
  r.add_options(command,
                {"Save the run here between rounds", "Continue the run saved in this checkpoint",
                 "Stop after the round that passes this many seconds"});
}

SampleRequest SampleOptions::request() {
  SampleRequest r = given_;
  r.settings = parse_settings(set_);
  r.plan.seed = parse_seed(seed_);
  const auto was_given = [&](const char* name) { return command_.get_option(name)->count() > 0; };
  if (r.resume.empty()) {
    check(r);
    r.settings = with_files_read(r.settings);
    r.claim_files();
    return r;
  }
  r.settings = with_files_read(r.settings);
  r.claim_files();
  // Everything that determines the draws comes from the checkpoint; what is repeated must agree.
  SampleRequest saved = from_description(read_checkpoint(r.resume).description, r.resume);
  const auto same = [&](const char* name, const auto& now, const auto& then) {
    if (was_given(name) && now != then) {
      throw UsageError(std::string(name) + " differs from the run that " + r.resume +
                       " continues; leave it out");
    }
  };
  if (r.sampler != "auto") same("--sampler", r.sampler, saved.sampler);
  same("--set", r.settings, saved.settings);
  same("--chains", r.plan.chains, saved.plan.chains);
  same("--warmup", r.plan.warmup, saved.plan.warmup);
  same("--thin", r.plan.thin, saved.plan.thin);
  same("--seed", r.plan.seed, saved.plan.seed);
  same("--tile", r.plan.tile, saved.plan.tile);
  same("--record", r.record, saved.record);
  if (was_given("--draws")) {
    if (r.plan.draws != saved.plan.draws && saved.record == "moments") {
      throw UsageError("--draws cannot change in a run that records moments");
    }
    saved.plan.draws = r.plan.draws;
  }
  same("--device", r.model.device, saved.model.device);
  same("--precision", r.model.precision, saved.model.precision);
  if (was_given("MODEL")) {
    const Model model = load_model(r.model);
    same("MODEL", model.text, saved.model_text);
    same("MODEL", model.files, saved.model_files);
  }
  if (was_given("--init")) throw UsageError("--init has no place in a run that is continued");
  if (was_given("--out")) saved.out = r.out;
  saved.plan.threads = r.plan.threads;
  static_cast<RunControl&>(saved) = r;
  check(saved);
  return saved;
}

std::string describe(const SampleRequest& r) {
  nlohmann::ordered_json d;
  d["version"] = version();
  d["model"] = r.model_text;
  d["model_files"] = r.model_files;
  d["device"] = r.model.device;
  d["precision"] = r.model.precision;
  d["sampler"] = r.sampler;
  d["settings"] = r.settings;
  d["chains"] = r.plan.chains;
  d["warmup"] = r.plan.warmup;
  d["draws"] = r.plan.draws;
  d["thin"] = r.plan.thin;
  d["seed"] = std::to_string(r.plan.seed);
  d["tile"] = r.plan.tile;
  d["record"] = r.record;
  d["out"] = r.out;
  d["kept"] = r.kept;
  return d.dump();
}

SampleRequest from_description(const std::string& text, const std::string& source) {
  try {
    const nlohmann::json json = parse_strictly(text, source);
    JsonFields d(json, source);
    SampleRequest r;
    const std::string made_by = d.string("version");
    if (made_by != version()) {
      throw DataError(source + ": saved by saltus " + made_by + ", but this is " + version());
    }
    r.model_text = d.string("model");
    r.model_files = d.at("model_files").get<std::map<std::string, std::string>>();
    r.model.device = d.string("device");
    r.model.precision = d.string("precision");
    r.sampler = d.string("sampler");
    r.settings = d.at("settings").get<Settings>();
    const auto count = [&](const char* field, std::int64_t low) {
      return static_cast<std::uint64_t>(d.integer(d.at(field), field, low, kMost));
    };
    r.plan.chains = static_cast<int>(d.integer(d.at("chains"), "chains", 1, 1'000'000'000));
    r.plan.warmup = count("warmup", 0);
    r.plan.draws = count("draws", 1);
    r.plan.thin = count("thin", 1);
    r.plan.seed = std::stoull(d.string("seed"));
    r.plan.tile = static_cast<int>(d.integer(d.at("tile"), "tile", 0, 1'000'000));
    r.record = d.string("record");
    r.out = d.string("out");
    r.kept = static_cast<int>(d.integer(d.at("kept"), "kept", 0, INT32_MAX));
    return r;
  } catch (const nlohmann::json::exception& e) {
    throw DataError(source + ": the checkpoint's description does not fit (" + e.what() + ")");
  } catch (const std::logic_error&) {
    throw DataError(source + ": the checkpoint's seed is not a number");
  }
}

}  // namespace saltus::cli
