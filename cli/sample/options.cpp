#include "cli/sample/options.hpp"

#include "cli/commands.hpp"
#include "cli/option_checks.hpp"
#include "io/draws/start_file.hpp"
#include "saltus/core/error.hpp"
#include "saltus/io/draw_files.hpp"

namespace saltus::cli {
namespace {

void check(const SampleCommand& c) {
  const RunPlan& plan = c.request.plan;
  const double steps = static_cast<double>(plan.draws) * static_cast<double>(plan.thin) +
                       static_cast<double>(plan.warmup);
  if (steps > static_cast<double>(kMostSteps)) {
    throw UsageError("the run would take more than 2^53 steps: lower --draws, --thin or --warmup");
  }
  if (c.record != "draws" && c.record != "moments") {
    throw UsageError("--record " + c.record + ": expected draws or moments");
  }
  if (!c.out.empty() && c.record == "moments") {
    throw UsageError("--out needs the draws, but --record moments keeps none");
  }
  if (c.request.sampler == "auto" && !c.request.settings.empty()) {
    throw UsageError("--set has no place beside --sampler auto: name a sampler");
  }
  std::string why;
  if (!c.out.empty() && !can_write_draws(c.out, &why)) throw UsageError(why);
  FileRoles roles;
  roles.reads("MODEL", c.model.model);
  roles.reads("--init", c.init);
  for (const auto& [key, value] : c.request.settings) roles.reads("--set " + key, value);
  roles.reads(c.request.model_files);
  if (c.checkpoint != c.resume) roles.reads("--resume", c.resume);
  roles.saves(c.checkpoint);
  roles.writes("--out", c.out);
}

// What the request takes from the command. Without --out, draws of a part of the coordinates are
// enough.
void settle(SampleCommand& c) {
  SampleRequest& r = c.request;
  static_cast<Saving&>(r) = c;
  r.keep = c.record == "moments" ? Keep::moments : Keep::disk;
  r.exact = !c.json;
  r.attributes["command"] = command_line();
  r.notes = {{"out", c.out}, {"device", c.model.device}, {"precision", c.model.precision}};
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
  SampleCommand& c = given_;
  SampleRequest& r = c.request;
  const auto whole = CLI::Range(std::int64_t{1}, kMostSteps);
  const auto whole_or_none = CLI::Range(std::int64_t{0}, kMostSteps);
  add_model_options(command, c.model);
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
  command.add_option("--init", c.init, "Start: random, or a file with one row per chain")
      ->capture_default_str();
  command.add_option("--record", c.record, "Keep draws, or running moments alone")
      ->capture_default_str()
      ->type_name("draws|moments");
  command.add_option("--out", c.out, "Write the draws: FILE.nc, FILE.npz or FILE.csv")
      ->type_name("FILE");
  c.add_options(command,
                {"Save the run here between rounds", "Continue the run saved in this checkpoint",
                 "Stop after the round that passes this many seconds"});
}

SampleCommand SampleOptions::complete() {
  SampleCommand c = given_;
  c.request.settings = parse_settings(set_);
  c.request.plan.seed = parse_seed(seed_);
  return c.resume.empty() ? begun(std::move(c)) : resumed(std::move(c));
}

SampleCommand SampleOptions::begun(SampleCommand c) const {
  check(c);
  SampleRequest& r = c.request;
  r.settings = with_files_read(r.settings);
  c.claim_files();
  SampleRequest of_model(load_model(c.model));
  r.target = of_model.target;
  r.model_text = of_model.model_text;
  r.model_files = of_model.model_files;
  check(c);  // the model's own files, too
  const int dim = r.target->domain().dim();
  r.coordinates = c.out.empty() ? watched_count(dim, r.plan) : dim;
  if (c.init != "random") {
    c.start = std::make_shared<const RowBuffer<Symbol>>(
        read_start_file(c.init, r.plan.chains, r.target->domain()));
    r.start = c.start->view();
  }
  settle(c);
  return c;
}

// Everything that determines the draws comes from the checkpoint; what is repeated must agree.
SampleCommand SampleOptions::resumed(SampleCommand c) const {
  c.request.settings = with_files_read(c.request.settings);
  c.claim_files();
  SampleRequest saved = read_sample_checkpoint(c.resume);
  const SampleRequest& r = c.request;
  const auto same = [&](const char* name, const auto& now, const auto& then) {
    if (was_given(command_, name) && now != then) {
      throw UsageError(std::string(name) + " differs from the run that " + c.resume +
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
  const std::string record = saved.keep == Keep::moments ? "moments" : "draws";
  same("--record", c.record, record);
  if (was_given(command_, "--draws")) {
    if (r.plan.draws != saved.plan.draws && record == "moments") {
      throw UsageError("--draws cannot change in a run that records moments");
    }
    saved.plan.draws = r.plan.draws;
  }
  same("--device", c.model.device, saved.notes["device"]);
  same("--precision", c.model.precision, saved.notes["precision"]);
  if (was_given(command_, "MODEL")) {
    const Model model = load_model(c.model);
    same("MODEL", model.text, saved.model_text);
    same("MODEL", model.files, saved.model_files);
  }
  if (was_given(command_, "--init"))
    throw UsageError("--init has no place in a run that is continued");
  if (!was_given(command_, "--out")) c.out = saved.notes["out"];
  saved.plan.threads = r.plan.threads;
  c.record = record;
  c.model.device = saved.notes["device"];
  c.model.precision = saved.notes["precision"];
  c.request = std::move(saved);
  check(c);
  attach_saved_model(c.request, c.model.options());
  const int dim = c.request.target->domain().dim();
  if (!c.out.empty() && c.request.coordinates != dim) {
    throw UsageError(
        "--out needs the draws of all coordinates, but the run was started without --out and "
        "kept " +
        std::to_string(c.request.coordinates) + " of " + std::to_string(dim));
  }
  settle(c);
  return c;
}

}  // namespace saltus::cli
