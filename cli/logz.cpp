// saltus logz: a model's log Z by annealed importance sampling, from below and from above.
#include <fmt/core.h>
#include <unistd.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/commands.hpp"
#include "cli/model_options.hpp"
#include "cli/option_checks.hpp"
#include "cli/progress.hpp"
#include "cli/run_control.hpp"
#include "cli/sample/options.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "core/checksum.hpp"
#include "io/bytes/byte_file.hpp"
#include "reproduce/data/data_folder.hpp"
#include "reproduce/data/ebm_images.hpp"
#include "saltus/anneal/ais_run.hpp"
#include "saltus/core/error.hpp"
#include "saltus/io/data_file.hpp"
#include "saltus/io/model_file.hpp"
#include "saltus/learn/ebm_learning.hpp"
#include "saltus/learn/likelihood.hpp"
#include "saltus/run/checkpoint.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/version.hpp"
#include "service/exact_work.hpp"

namespace saltus::cli {
namespace {

// An estimate that rests on fewer chains than this, and on less than half of them, has no
// trustworthy standard error.
constexpr double kFewChains = 10;

struct LogzRequest : RunControl {
  LogzRequest() { checkpoint_every = 60; }
  ModelRequest model;
  std::string sampler = "dmala", schedule, base, seed = "1";
  std::vector<std::string> set;
  int betas = 1000;
  AisPlan plan;
  std::string test, data;  // data whose log-likelihood is wanted; folder of data sets
  bool no_reverse = false;
};

// Data and their mean log p, up to the model's constant.
struct TestData {
  std::string name;
  int rows;
  double mean_logp;
};

struct LogzReport {
  const LogzRequest& request;
  const Target& target;
  bool tuned;
  AisResult result;
  std::optional<double> exact;
  std::optional<TestData> test;
};

// Numbers separated by blanks, commas or line ends.
std::vector<double> read_numbers(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw FileError("cannot read " + path, false);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const char* separators = ", \t\r\n;";
  std::vector<double> numbers;
  for (std::size_t at = 0; (at = text.find_first_not_of(separators, at)) != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    double value = 0;
    const auto [rest, error] = std::from_chars(text.data() + at, text.data() + end, value);
    if (error != std::errc{} || rest != text.data() + end || !std::isfinite(value)) {
      throw DataError(path + ": '" + text.substr(at, std::min<std::size_t>(end - at, 40)) +
                      "' is not a finite number");
    }
    numbers.push_back(value);
    at = end;
  }
  return numbers;
}

std::vector<double> betas_of(const LogzRequest& request) {
  if (request.schedule.empty()) return linear_betas(request.betas);
  std::vector<double> betas = read_numbers(request.schedule);
  try {
    check_betas(betas);
  } catch (const UsageError& e) {
    throw DataError(request.schedule + ": " + e.what());
  }
  return betas;
}

// Where the chains start: what was asked for, or the model's own base, or uniform. `request.base`
// then says which.
Independent base_of(LogzRequest& request, const Model& model) {
  const Domain& domain = model.target->domain();
  if (domain.unbounded()) {
    throw UsageError(
        "log Z is estimated from finitely many levels, but the integers of the model " +
        model.target->name() + " are unbounded");
  }
  if (request.base.empty() || request.base == "model") {
    if (auto base = model_base(model.value)) return request.base = "model", *base;
    if (!request.base.empty()) {
      throw UsageError("the model " + model.target->name() +
                       " has no base of its own; --base uniform, or a file of probabilities");
    }
    request.base = "uniform";
  }
  if (request.base == "uniform") return Independent::uniform(domain);
  const std::vector<double> p = read_numbers(request.base);
  try {
    return domain.two_level() ? Independent::bernoulli(domain, p)
                              : Independent::of_levels(domain, p);
  } catch (const DataError& e) {
    throw DataError(request.base + ": " + e.what());
  }
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

std::optional<TestData> test_of(const LogzRequest& request, const Target& target) {
  if (request.test.empty()) return std::nullopt;
  const RowBuffer<Symbol> rows = read_test(request.test, request.data);
  try {
    return TestData{request.test, rows.view().rows,
                    mean_logp(target, rows.view(), request.plan.annealing.threads)};
  } catch (const DataError& e) {
    throw DataError(request.test + ": " + e.what());
  }
}

std::string line_of(const AisStatus& status) {
  const char* stages[] = {"warm-up at beta = 1", "annealing to the model",
                          "annealing from the model"};
  return fmt::format("{}: {:.0f} %", stages[static_cast<int>(status.stage)], 100 * status.done);
}

std::optional<double> exact_log_z(const Target& target, int threads) {
  const std::optional<ExactAnswer> answer = affordable_exact_answer(target, threads);
  return answer ? std::optional(answer->log_z) : std::nullopt;
}

std::vector<std::string> warnings_of(const AisResult& r) {
  std::vector<std::string> list;
  const auto check = [&](const char* name, const AisEstimate& e) {
    const auto chains = static_cast<double>(e.log_weights.size());
    if (e.ess >= kFewChains || e.ess >= chains / 2) return;
    list.push_back(
        fmt::format("the {} weights rest on {:.1f} of {:.0f} chains, so that the "
                    "standard error cannot be trusted; take more betas",
                    name, e.ess, chains));
  };
  check("forward", r.forward);
  if (!r.reverse) return list;
  check("reverse", *r.reverse);
  if (r.low() > r.high()) {
    list.push_back(fmt::format(
        "the bounds are in the wrong order: by a rare chance, or because the reverse chains did "
        "not start from draws of the model; raise --reverse-warmup, or take another sampler. "
        "The forward weights alone say that log Z is above {:.5g}, with 95 % confidence",
        log_z_floor(r.forward.log_z)));
  }
  return list;
}

nlohmann::ordered_json estimate_json(const AisEstimate& e) {
  const double sum = std::accumulate(e.log_weights.begin(), e.log_weights.end(), 0.0);
  return {{"log_z", json_number(e.log_z)},
          {"standard_error", json_number(e.standard_error)},
          {"ess", json_number(e.ess)},
          {"mean_log_weight", json_number(sum / static_cast<double>(e.log_weights.size()))},
          {"acceptance_rate", json_number(e.acceptance)}};
}

nlohmann::ordered_json report_json(const LogzReport& report) {
  const AisResult& r = report.result;
  const AnnealingPlan& plan = report.request.plan.annealing;
  nlohmann::ordered_json j;
  j["model"] = report.target.name();
  j["dimension"] = report.target.domain().dim();
  j["log_z"] = json_number(r.forward.log_z);
  j["standard_error"] = json_number(r.forward.standard_error);
  j["interval"] = {json_number(r.low()), json_number(r.high())};
  j["ess"] = json_number(r.forward.ess);
  j["forward"] = estimate_json(r.forward);
  j["reverse"] = r.reverse ? estimate_json(*r.reverse) : nlohmann::ordered_json(nullptr);
  j["exact"] = report.exact ? json_number(*report.exact) : nlohmann::ordered_json(nullptr);
  j["test"] = nullptr;
  if (report.test) {
    const LikelihoodInterval ll = log_likelihood(report.test->mean_logp, r);
    j["test"] = {{"data", report.test->name},
                 {"rows", report.test->rows},
                 {"mean_logp", json_number(report.test->mean_logp)},
                 {"log_likelihood", {json_number(ll.low), json_number(ll.high)}}};
  }
  j["betas"] = plan.betas.size();
  j["steps_per_beta"] = plan.steps_per_beta;
  j["chains"] = plan.chains;
  j["base"] = report.request.base;
  j["sampler"] = report.request.sampler;
  j["parameters"] = parameters_json(r.parameters);
  j["seed"] = plan.seed;
  j["warnings"] = warnings_of(r);
  j["seconds"] = r.seconds;
  j["version"] = version();
  return j;
}

void print_estimate(const char* name, const AisEstimate& e) {
  show("{:<10} {:>14.5f} {:>12} {:>8} {:>11}\n", name, e.log_z,
       fmt::format("{:.5f}", e.standard_error), fmt::format("{:.1f}", e.ess),
       std::isnan(e.acceptance) ? "-" : fmt::format("{:.3f}", e.acceptance));
}

void print_interval(const AisResult& r) {
  if (!r.reverse) {
    show(
        "\nlog Z probably lies above {:.5f}, two standard errors below the estimate. How far "
        "above,\nonly the reverse direction tells.\n",
        r.low());
  } else if (r.low() <= r.high()) {
    show("\nlog Z probably lies between {:.5f} and {:.5f}: two standard errors below and above.\n",
         r.low(), r.high());
  }
}

void print_likelihood(const TestData& test, const AisResult& r) {
  const LikelihoodInterval ll = log_likelihood(test.mean_logp, r);
  const std::string rows = with_commas(static_cast<std::uint64_t>(test.rows));
  show("{}, {} rows: mean log p {:.5f}", test.name, rows, test.mean_logp);
  if (r.reverse) {
    show(", log-likelihood between {:.5f} and {:.5f}.\n", ll.low, ll.high);
  } else {
    show(", log-likelihood below {:.5f}.\n", ll.high);
  }
}

void print_report(const LogzReport& report) {
  const AisResult& r = report.result;
  const AnnealingPlan& plan = report.request.plan.annealing;
  const std::string parameters = parameters_text(r.parameters);
  show("{}, {}: {} with {}\n{} chains, {} betas, {} step{} at each, seed {}\n",
       report.target.name(), shape_text(report.target.shape()), report.request.sampler, parameters,
       with_commas(static_cast<std::uint64_t>(plan.chains)), with_commas(plan.betas.size()),
       plan.steps_per_beta, plan.steps_per_beta == 1 ? "" : "s", plan.seed);
  if (report.tuned) show("Tuned at beta = 1, and used so at every beta.\n");
  show("\n{:<10} {:>14} {:>12} {:>8} {:>11}\n", "", "log Z", "std. error", "ESS", "acceptance");
  print_estimate("forward", r.forward);
  if (r.reverse) print_estimate("reverse", *r.reverse);
  if (report.exact) {
    show("{:<10} {:>14.5f}   forward {:+.2g}\n", "exact", *report.exact,
         r.forward.log_z - *report.exact);
  }
  print_interval(r);
  if (report.test) print_likelihood(*report.test, r);
  for (const std::string& w : warnings_of(r)) show("\nWarning: {}.\n", w);
  show("{}\n", duration(r.seconds));
}

// Files whose contents determine the weights, with their checksums.
std::map<std::string, std::string> files_of(const LogzRequest& request, const Model& model) {
  std::map<std::string, std::string> files = model.files;
  if (request.base != "model" && request.base != "uniform") {
    const std::string path = std::filesystem::absolute(request.base).lexically_normal().string();
    files[path] = checksum_of_file(path);
  }
  return files;
}

// All that determines the weights, so that a checkpoint is not taken for another estimate. Of the
// betas their number and a sum.
std::string description_of(const LogzRequest& request, const Model& model) {
  const AnnealingPlan& plan = request.plan.annealing;
  Checksum sum;
  for (const double beta : plan.betas) sum.add(std::bit_cast<std::uint64_t>(beta));
  nlohmann::ordered_json d;
  d["version"] = version();
  d["logz"] = model.text;
  d["files"] = files_of(request, model);
  d["sampler"] = request.sampler;
  d["set"] = request.set;
  d["base"] = request.base;
  d["betas"] = plan.betas.size();
  d["sum_of_betas"] = sum.value();
  d["steps"] = plan.steps_per_beta;
  d["chains"] = plan.chains;
  d["seed"] = plan.seed;
  d["reverse"] = request.plan.reverse;
  d["warmup"] = request.plan.warmup;
  return d.dump();
}

void restore(AisRun& run, const std::string& file, const std::string& description) {
  const Checkpoint checkpoint = read_checkpoint(file);
  if (checkpoint.description != description) {
    const auto then = nlohmann::json::parse(checkpoint.description, nullptr, false);
    const auto now = nlohmann::json::parse(description)["files"];
    for (const auto& [path, sum] : now.items()) {
      if (then.is_object() && then.contains("files") && then["files"].value(path, sum) != sum) {
        throw DataError(path + " has changed since " + file + " was saved");
      }
    }
    throw UsageError(file + " holds an estimate with other options, of another model, or by " +
                     "another version");
  }
  ByteReader in(checkpoint.state);
  try {
    run.restore(in);
  } catch (const DataError& e) {
    throw DataError(file + ": the checkpoint does not fit (" + e.what() + ")");
  }
}

void save(const AisRun& run, const std::string& file, const std::string& description) {
  ByteWriter out;
  run.save(out);
  write_checkpoint(file, description, out.bytes());
}

// True when the estimate is complete. Otherwise it is saved, where a file is named, and a sentence
// says how to go on.
bool estimate(AisRun& run, const LogzRequest& request, const std::string& description) {
  const std::string& file = request.checkpoint;
  if (!request.resume.empty()) restore(run, request.resume, description);
  std::function<void()> saving;
  if (!file.empty()) saving = [&] { save(run, file, description); };
  const auto go = [&] {
    Progress progress(Progress::Elsewhere::nothing);
    Pacer pacer(request.checkpoint_every, request.time_limit, saving);
    return run.go([&](const AisStatus& status) {
      const bool wanted = progress.show(line_of(status));
      return pacer.next() && wanted;
    });
  };
  const bool complete = go();
  if (saving) saving();
  if (complete) return true;
  say("Stopped before there was an estimate.{}\n",
      file.empty() ? " Give --checkpoint FILE to be able to continue."
                   : fmt::format(" Saved in {}. To continue, add to the command:\n"
                                 "  --resume {}",
                                 file, shell_word(file)));
  return false;
}

void check_files(const LogzRequest& request,
                 const std::map<std::string, std::string>& model_files = {}) {
  FileRoles roles;
  roles.reads(model_files);
  roles.reads("MODEL", request.model.model);
  roles.reads("--schedule", request.schedule);
  roles.reads("--base", request.base);
  roles.reads("--test", request.test);
  if (request.checkpoint != request.resume) roles.reads("--resume", request.resume);
  roles.saves(request.checkpoint);
}

int logz(LogzRequest request) {
  AisPlan& plan = request.plan;
  plan.annealing.seed = parse_seed(request.seed);
  plan.annealing.betas = betas_of(request);
  plan.reverse = !request.no_reverse;
  check_files(request);
  request.claim_files();
  const Model model = load_model(request.model);
  check_files(request, model.files);
  const Tempered path(*model.target, base_of(request, model));
  auto sampler = make_sampler(request.sampler, path, parse_settings(request.set));
  const bool tuned = sampler->tunable() != nullptr;
  const auto test = test_of(request, *model.target);
  AisRun run(path, std::move(sampler), plan);
  if (!estimate(run, request, description_of(request, model))) {
    return signal_seen() ? 128 + signal_seen() : ok;
  }
  const LogzReport report{request,
                          *model.target,
                          tuned,
                          run.result(),
                          exact_log_z(*model.target, plan.annealing.threads),
                          test};
  if (request.json) {
    show_json(report_json(report));
  } else {
    print_report(report);
  }
  return ok;
}

}  // namespace

void add_logz(CLI::App& program, int& status) {
  CLI::App* command =
      program.add_subcommand("logz", "Estimate log Z of a model, from below and from above");
  auto o = std::make_shared<LogzRequest>();
  AnnealingPlan& plan = o->plan.annealing;
  add_model_options(*command, o->model);
  command->add_option("--sampler", o->sampler, "Sampler of the transitions; it must be exact")
      ->capture_default_str();
  command->add_option("--set", o->set, "Sampler parameter KEY=VALUE, repeatable")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  auto* betas = command->add_option("--betas", o->betas, "Betas, evenly spaced from 0 to 1")
                    ->capture_default_str()
                    ->check(CLI::Range(2, 100'000'000));
  command->add_option("--schedule", o->schedule, "File of betas that increase from 0 to 1")
      ->type_name("FILE")
      ->excludes(betas);
  command->add_option("--steps", plan.steps_per_beta, "Steps at each beta")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
  command->add_option("--chains", plan.chains, "Chains of each direction")
      ->capture_default_str()
      ->check(CLI::Range(2, 10'000'000));
  command
      ->add_option("--base", o->base,
                   "Where chains start: model (the model's own base, the default of resnet-ebm), "
                   "uniform (of the others), or a file of probabilities (of the upper level of "
                   "each coordinate, or of all levels where there are more than two)")
      ->type_name("model|uniform|FILE");
  command
      ->add_option("--test", o->test,
                   "Give the log-likelihood of these data: a file of rows, or a set, "
                   "static_mnist:valid say (train, valid, test)")
      ->type_name("FILE|NAME[:PART]");
  command->add_option("--data", o->data, "Folder of data sets (default: $SALTUS_DATA)")
      ->type_name("DIR");
  command->add_option("--seed", o->seed, "Random seed, 0 to 2^64 - 1")->capture_default_str();
  command
      ->add_option("--threads", plan.threads,
                   "Threads (default: all cores); never changes a result")
      ->check(CLI::Range(1, 4096));
  command->add_flag("--no-reverse", o->no_reverse, "The estimate from below alone");
  command
      ->add_option("--reverse-warmup", o->plan.warmup,
                   "Steps at beta = 1 after which chains count as draws of the model")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 53));
  o->add_options(*command, {"Save here now and then",
                            "Go on with the estimate saved in this checkpoint; the other options "
                            "are those that it was begun with",
                            "Stop after so many seconds"});
  command->callback([o, &status] { status = logz(*o); });
}

}  // namespace saltus::cli
