// saltus logz: a model's log Z by annealed importance sampling, from below and from above, by
// parallel tempering, or by both.
#include <fmt/core.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "cli/team.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "cli/warnings.hpp"
#include "io/bytes/byte_file.hpp"
#include "io/factors/uai_answers.hpp"
#include "reproduce/data/data_folder.hpp"
#include "reproduce/data/image_sets.hpp"
#include "saltus/core/error.hpp"
#include "saltus/io/data_file.hpp"
#include "saltus/io/model_file.hpp"
#include "saltus/learn/ebm_learning.hpp"
#include "saltus/logz.hpp"
#include "saltus/version.hpp"

namespace saltus::cli {
namespace {

struct LogzOptions : RunControl {
  LogzOptions() { checkpoint_every = 60; }
  ModelRequest model;
  std::string sampler = "dmala", schedule, base, seed = "1";
  std::vector<std::string> set;
  int betas = 1000;
  AisPlan plan;
  std::string answers;     // a file of UAI
  std::string test, data;  // data whose log-likelihood is wanted; folder of data sets
  bool no_reverse = false, strict = false;
  std::string method = "ais", replicas = "auto";  // ais, tempering or both; of tempering
  LogzTempering tempering;
  std::shared_ptr<const WholeModel> whole;  // where values are given
  bool anneals() const { return method != "tempering"; }
  bool tempers() const { return method != "ais"; }
};

struct LogzReport {
  const LogzOptions& options;
  const Target& target;
  const LogzResult& result;
  int test_rows;
};

std::vector<double> betas_of(const LogzOptions& request) {
  return request.schedule.empty() ? linear_betas(request.betas) : read_betas(request.schedule);
}

// Where the chains start: what was asked for, or the model's own base, or uniform. `options.base`
// then says which.
std::optional<Independent> base_of(LogzOptions& options, const LogzRequest& request) {
  if (options.base.empty() || options.base == "model") {
    if (request.base) return options.base = "model", request.base;
    if (!options.base.empty()) {
      throw UsageError("the model " + request.target->name() +
                       " has no base of its own; --base uniform, or a file of probabilities");
    }
    options.base = "uniform";
  }
  if (options.base == "uniform") return std::nullopt;
  const Domain& domain = request.target->domain();
  return Independent::with_probabilities(
      domain, read_probabilities(options.base, domain, options.whole.get()));
}

// A file of rows, or NAME or NAME:PART of a published set.
RowBuffer<Symbol> read_test(const std::string& test, const std::string& data) {
  const std::size_t colon = test.find(':');
  const std::string name = test.substr(0, colon);
  if (!is_image_set(name)) return std::move(read_binary_data(test).rows);
  const std::string part = colon == std::string::npos ? "test" : test.substr(colon + 1);
  const ImageSet images = load_image_set(name, data_folder(data));
  if (part == "test") return test_rows(images);
  if (part == "valid") return validation_rows(images);
  if (part != "train") {
    throw UsageError("--test " + test + ": the parts of " + name + " are train, valid and test");
  }
  return binarise(images.train, images.grey, 0, kBaseDraw);
}

std::string line_of(const LogzStatus& status) {
  const char* stages[] = {"warm-up at beta = 1", "annealing to the model",
                          "annealing from the model", "tempering"};
  return fmt::format("{}: {:.0f} %", stages[static_cast<int>(status.stage)], 100 * status.done);
}

double seconds_of(const LogzResult& r) {
  return (r.estimate ? r.estimate->seconds : 0) + r.tempering_seconds;
}

void print_estimate(const char* name, const AisEstimate& e) {
  show("{:<10} {:>14.5f} {:>12} {:>8} {:>11}\n", name, e.log_z,
       fmt::format("{:.5f}", e.standard_error), fmt::format("{:.1f}", e.ess),
       std::isnan(e.acceptance) ? "-" : fmt::format("{:.3f}", e.acceptance));
}

void print_tempered(const TemperingReport& t) {
  show("{:<10} {:>14} {:>12} {:>8} {:>11}\n", "tempering", fixed(t.log_z, 5),
       fixed(t.log_z_error, 5), "-", "-");
}

void print_interval(const LogzResult& r) {
  if (r.estimate && !r.estimate->reverse) {
    show(
        "\nlog Z probably lies above {:.5f}, two standard errors below the estimate. How far "
        "above,\nonly the reverse direction tells.\n",
        r.low());
  } else if (r.low() <= r.high()) {
    show("\nlog Z probably lies between {:.5f} and {:.5f}: two standard errors below and above.\n",
         r.low(), r.high());
  }
}

void print_likelihood(const LogzReport& report) {
  const LikelihoodInterval& ll = *report.result.log_likelihood;
  const std::string rows = count(report.test_rows);
  show("{}, {} rows: mean log p {:.5f}", report.options.test, rows, *report.result.mean_logp);
  if (std::isfinite(ll.low)) {
    show(", log-likelihood between {:.5f} and {:.5f}.\n", ll.low, ll.high);
  } else {
    show(", log-likelihood below {:.5f}.\n", ll.high);
  }
}

void print_plans(const LogzReport& report) {
  const LogzOptions& o = report.options;
  const AnnealingPlan& plan = o.plan.annealing;
  if (report.result.estimate) {
    show("{} chains, {} betas, {} step{} at each, seed {}\n", count(plan.chains),
         with_commas(plan.betas.size()), plan.steps_per_beta, plan.steps_per_beta == 1 ? "" : "s",
         plan.seed);
    if (report.result.tuned) show("Tuned at beta = 1, and used so at every beta.\n");
  }
  if (const auto& t = report.result.tempering) {
    show("{} tempered ensembles of {} replicas, {} scans after {} of warm-up, seed {}\n",
         count(o.tempering.run.chains), t->betas.size(), with_commas(o.tempering.run.draws),
         with_commas(o.tempering.run.warmup), plan.seed);
  }
}

void print_report(const LogzReport& report) {
  const LogzResult& result = report.result;
  const auto& r = result.estimate;
  const auto& t = result.tempering;
  const std::string parameters = r ? parameters_text(r->parameters) : "";
  show("{}, {}: {}{}{}\n", report.target.name(), shape_text(report.target.shape()),
       report.options.sampler, parameters.empty() ? "" : " with ", parameters);
  if (report.options.whole) show("Given {}\n", given_text(report.options.whole->given));
  print_plans(report);
  show("\n{:<10} {:>14} {:>12} {:>8} {:>11}\n", "", "log Z", "std. error", "ESS", "acceptance");
  if (r) print_estimate("forward", r->forward);
  if (r && r->reverse) print_estimate("reverse", *r->reverse);
  if (t) print_tempered(*t);
  if (result.exact) {
    show("{:<10} {:>14.5f}   {} {:+.2g}\n", "exact", *result.exact, r ? "forward" : "tempering",
         (r ? r->forward.log_z : t->log_z) - *result.exact);
  }
  print_interval(result);
  if (t) {
    show("Tempering: {} from below and {} from above; barrier {:.3f}, {} round trips.\n",
         fixed(t->log_z_forward, 5), fixed(t->log_z_backward, 5), t->barrier,
         with_commas(t->round_trips));
  }
  if (result.mean_logp) print_likelihood(report);
  show_warnings(result.warnings);
  show("{}\n", duration(seconds_of(result)));
}

void say_how_to_continue(const std::string& file) {
  say("Stopped before there was an estimate.{}\n",
      file.empty() ? " Give --checkpoint FILE to be able to continue."
                   : fmt::format(" Saved in {}. To continue, add to the command:\n"
                                 "  --resume {}",
                                 file, shell_word(file)));
}

void check_files(const LogzOptions& request,
                 const std::map<std::string, std::string>& model_files = {}) {
  FileRoles roles;
  roles.reads(model_files);
  roles.reads("MODEL", request.model.model);
  roles.reads("--schedule", request.schedule);
  roles.reads("--given", request.model.given);
  roles.reads("--base", request.base);
  roles.reads("--test", request.test);
  roles.writes("--answers", request.answers);
  if (request.checkpoint != request.resume) roles.reads("--resume", request.resume);
  roles.saves(request.checkpoint);
}

// Options of a method that is not asked for are refused.
void check_methods(const CLI::App& command, const LogzOptions& o) {
  if (o.method != "ais" && o.method != "tempering" && o.method != "both") {
    throw UsageError("--method " + o.method + ": expected ais, tempering or both");
  }
  const auto refuse = [&](std::initializer_list<const char*> options, const char* method) {
    for (const char* option : options) {
      if (!was_given(command, option)) continue;
      throw UsageError(std::string(option) + " belongs to --method " + method);
    }
  };
  if (!o.anneals()) {
    refuse({"--betas", "--schedule", "--chains", "--no-reverse", "--reverse-warmup"}, "ais");
  }
  if (!o.tempers()) refuse({"--replicas", "--ensembles", "--warmup", "--draws"}, "tempering");
}

LogzTempering tempering_plan(const LogzOptions& o) {
  LogzTempering t = o.tempering;
  t.steps = o.plan.annealing.steps_per_beta;
  t.run.seed = o.plan.annealing.seed;
  t.run.threads = o.plan.annealing.threads;
  if (o.replicas == "auto") return t;
  const auto replicas = number_in<int>(o.replicas);
  if (!replicas || *replicas < 2) {
    throw UsageError("--replicas " + o.replicas + ": expected auto, or a number from 2");
  }
  t.replicas = *replicas;
  return t;
}

int estimate(LogzOptions options) {
  if (!options.answers.empty() && uai_task(options.answers) != UaiTask::pr) {
    throw UsageError("--answers " + options.answers + ": logz gives log10 Z, FILE.PR");
  }
  AisPlan& plan = options.plan;
  plan.annealing.seed = parse_seed(options.seed);
  plan.annealing.betas = betas_of(options);
  plan.reverse = !options.no_reverse;
  options.tempering = tempering_plan(options);
  check_files(options);
  options.claim_files();
  if (!options.test.empty() && !options.model.given.empty()) {
    throw UsageError("--test has no place beside --given: the data are of all coordinates");
  }
  Model model = load_model(options.model);
  options.whole = model.whole;
  LogzRequest request(std::move(model));
  check_files(options, request.files);
  request.base = base_of(options, request);
  if (options.base != "model" && options.base != "uniform") {
    const std::string path = std::filesystem::absolute(options.base).lexically_normal().string();
    request.files[path] = checksum_of_file(path);
  }
  static_cast<Saving&>(request) = options;
  request.sampler = options.sampler;
  request.settings = parse_settings(options.set);
  request.plan = plan;
  request.annealing = options.anneals();
  if (options.tempers()) request.tempering = options.tempering;
  RowBuffer<Symbol> test;
  if (!options.test.empty()) test = read_test(options.test, options.data);
  request.test = test.view();
  request.test_name = options.test;
  const auto run = [&] {
    Progress progress(Progress::Elsewhere::nothing);
    return logz(request, [&](const LogzStatus& status) { return progress.show(line_of(status)); });
  };
  request.team = team();
  const LogzResult result = run();
  if (!leads()) return ok;
  if (!result.complete) {
    say_how_to_continue(options.checkpoint);
    return signal_seen() ? 128 + signal_seen() : ok;
  }
  const double log_z = result.estimate ? result.estimate->forward.log_z : result.tempering->log_z;
  if (!options.answers.empty() && std::isfinite(log_z)) {
    replace_file(options.answers, pr_answer(log_z));
  }
  const LogzReport report{options, *request.target, result, test.view().rows};
  if (options.json) {
    say_warnings(result.warnings);
    show_json(logz_json(
        request, result,
        {options.method, options.base, options.test, report.test_rows, options.whole.get()}));
  } else {
    print_report(report);
  }
  return status_of(result.warnings, options.strict);
}

// Where all values are given: log p of the state is log Z.
int estimate_or_read(const LogzOptions& options) {
  try {
    return estimate(options);
  } catch (const NothingFree& nothing) {
    if (!leads()) return ok;
    if (!options.answers.empty()) replace_file(options.answers, pr_answer(nothing.logp));
    if (options.json) {
      show_json({{"model", options.model.model},
                 {"log_z", nothing.logp},
                 {"standard_error", 0},
                 {"interval", {nothing.logp, nothing.logp}},
                 {"exact", nothing.logp},
                 {"version", version()}});
    } else {
      show("All coordinates are given: log Z is log p of their state, {:.10g}.\n", nothing.logp);
    }
    return ok;
  }
}

}  // namespace

void add_logz(CLI::App& program, int& status) {
  CLI::App* command =
      program.add_subcommand("logz", "Estimate log Z of a model, from below and from above");
  auto o = std::make_shared<LogzOptions>();
  AnnealingPlan& plan = o->plan.annealing;
  add_model_options(*command, o->model);
  add_default(*command, "--method", o->method,
              "Annealed importance sampling, parallel tempering, or both side by side")
      ->type_name("ais|tempering|both");
  add_default(*command, "--sampler", o->sampler, "Sampler of the transitions; it must be exact");
  add_settings(*command, o->set);
  auto* betas = add_default(*command, "--betas", o->betas, "Betas, evenly spaced from 0 to 1",
                            whole_number(2, 100'000'000));
  add_typed(*command, "--schedule", o->schedule, "File of betas that increase from 0 to 1", "FILE")
      ->excludes(betas);
  add_default(*command, "--steps", plan.steps_per_beta,
              "Steps at each beta; of tempering: between two exchanges",
              whole_number(1, 1'000'000));
  add_default(*command, "--chains", plan.chains, "Chains of each direction",
              whole_number(2, 10'000'000));
  RunPlan& run = o->tempering.run;
  add_default(*command, "--replicas", o->replicas, "Of tempering: replicas of an ensemble")
      ->type_name("auto|N");
  add_default(*command, "--ensembles", run.chains, "Of tempering: independent ensembles",
              whole_number(2, 1'000'000));
  add_default(*command, "--warmup", run.warmup, "Of tempering: scans that adapt the ladder",
              steps_from(0));
  add_default(*command, "--draws", run.draws, "Of tempering: scans of the estimate", steps_from(1));
  add_typed(*command, "--base", o->base,
            "Where chains start: model (the model's own base, the default of resnet-ebm), uniform "
            "(of the others), or a file of probabilities (of the upper level of each coordinate, "
            "or of all levels where there are more than two)",
            "model|uniform|FILE");
  add_typed(*command, "--test", o->test,
            "Give the log-likelihood of these data: a file of rows, or a set, static_mnist:valid "
            "say (train, valid, test)",
            "FILE|NAME[:PART]");
  add_typed(*command, "--answers", o->answers, "Write log10 Z in the format of UAI: FILE.PR",
            "FILE");
  add_data_folder(*command, o->data);
  add_seed(*command, o->seed);
  add_threads(*command, plan.threads, "a result");
  command->add_flag("--no-reverse", o->no_reverse, "The estimate from below alone");
  add_default(*command, "--reverse-warmup", o->plan.warmup,
              "Steps at beta = 1 after which chains count as draws of the model", steps_from(1));
  o->add_options(*command, {"Save here now and then",
                            "Go on with the estimate saved in this checkpoint; the other options "
                            "are those that it was begun with",
                            "Stop after this many seconds"});
  add_strict(*command, o->strict);
  command->callback([o, command, &status] {
    check_methods(*command, *o);
    status = estimate_or_read(*o);
  });
}

}  // namespace saltus::cli
