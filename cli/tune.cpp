// saltus tune: warm-up alone, whose result a file keeps.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "cli/tuning.hpp"
#include "io/bytes/byte_file.hpp"
#include "io/bytes/gzip.hpp"
#include "io/bytes/new_file.hpp"
#include "saltus/core/error.hpp"
#include "saltus/version.hpp"

namespace saltus::cli {
namespace {

struct TuneOptions {
  ModelRequest model;
  SampleRequest request;
  std::vector<std::string> set;
  std::string seed = "1", out;
  bool json = false;
};

std::string value_text(const Parameter& parameter) {
  return std::visit([](const auto& value) { return fmt::format("{}", value); }, parameter.value);
}

// The settings of the request, and every parameter that was tuned.
Settings tuned_settings(const SampleRequest& request, const SampleResult& result) {
  Settings settings = request.settings;
  const std::string names = ", " + result.tunes + ", ";
  for (const Parameter& p : result.parameters) {
    if (names.find(", " + p.name + ", ") != std::string::npos) settings[p.name] = value_text(p);
  }
  return settings;
}

Json tuning_json(const SampleRequest& request, const SampleResult& result) {
  Json j;
  j["saltus_tuning"] = 1;
  j["version"] = version();
  j["model"] = result.target->name();
  j["sampler"] = request.sampler;
  j["settings"] = tuned_settings(request, result);
  j["acceptance_rate"] = json_number(result.statistics.acceptance);
  j["chains"] = result.plan.chains;
  j["warmup"] = result.plan.warmup;
  j["seed"] = std::to_string(result.plan.seed);
  return j;
}

int tune(TuneOptions o) {
  SampleRequest& r = o.request;
  FileRoles roles;
  roles.reads("MODEL", o.model.model);
  roles.writes("--out", o.out);
  r.settings = parse_settings(o.set);
  r.plan.seed = parse_seed(o.seed);
  const SampleRequest of_model(load_model(o.model));
  r.target = of_model.target;
  r.model_files = of_model.model_files;
  r.whole = of_model.whole;
  r.keep = Keep::moments;
  r.exact = false;
  r.plan.draws = 100;  // whose acceptance is shown
  SampleRun run(r);
  run.start();
  if (!go(run)) {
    say("Stopped before the sampler was tuned.\n");
    return signal_seen() ? 128 + signal_seen() : ok;
  }
  const SampleResult result = run.result();
  if (result.tunes.empty()) throw UsageError(result.sampler + " has nothing to tune");
  if (!o.out.empty()) write_tuning(o.out, run.request(), result);
  if (o.json) {
    show_json(tuning_json(run.request(), result));
    return ok;
  }
  show("{}: {} with {}, acceptance {:.3f} after {} warm-up steps of {} chains\n",
       result.target->name(), run.request().sampler, parameters_text(result.parameters),
       result.statistics.acceptance, with_commas(r.plan.warmup), count(r.plan.chains));
  if (!o.out.empty()) {
    show("Draw with it: saltus sample {} --tuning {}\n", model_words(o.model), shell_word(o.out));
  }
  return ok;
}

}  // namespace

void write_tuning(const std::string& path, const SampleRequest& request,
                  const SampleResult& result) {
  NewFile file(path);
  OutputFile out(file.path(), path);
  out.append(tuning_json(request, result).dump(2) + "\n");
  out.close();
  file.keep();
}

void read_tuning(const std::string& path, SampleRequest& request) {
  const auto j = nlohmann::json::parse(read_text(path), nullptr, false);
  const bool known = j.is_object() && j.contains("saltus_tuning") && j.contains("sampler") &&
                     j["sampler"].is_string() && j.contains("settings") &&
                     j["settings"].is_object();
  if (!known) throw DataError(path + " is no file that saltus tune wrote");
  request.sampler = j["sampler"].get<std::string>();
  for (const auto& [name, value] : j["settings"].items()) {
    if (!value.is_string()) throw DataError(path + ": the setting " + name + " is no text");
    request.settings[name] = value.get<std::string>();
  }
}

void add_tune(CLI::App& program, int& status) {
  CLI::App* command =
      program.add_subcommand("tune", "Tune a sampler on a model, for runs in several parts");
  auto o = std::make_shared<TuneOptions>();
  SampleRequest& r = o->request;
  add_model_options(*command, o->model);
  add_default(*command, "--sampler", r.sampler, "Sampler ('saltus samplers' lists them), or auto");
  add_settings(*command, o->set);
  add_default(*command, "--chains", r.plan.chains, "Chains", whole_number(1, 1'000'000'000));
  add_default(*command, "--warmup", r.plan.warmup, "Warm-up steps", steps_from(1));
  add_seed(*command, o->seed);
  add_threads(*command, r.plan.threads, "the result");
  add_typed(*command, "--out", o->out, "Write what was found, for 'saltus sample --tuning'",
            "FILE");
  command->add_flag("--json", o->json, "Print the results as JSON, and nothing else");
  command->callback([o, &status] { status = tune(*o); });
}

}  // namespace saltus::cli
