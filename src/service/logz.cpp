#include "saltus/logz.hpp"

#include <fmt/core.h>

#include <bit>
#include <nlohmann/json.hpp>

#include "core/checksum.hpp"
#include "saltus/anneal/ais.hpp"
#include "saltus/core/error.hpp"
#include "saltus/run/checkpoint.hpp"
#include "saltus/version.hpp"
#include "service/parts.hpp"

namespace saltus {
namespace {

// An estimate that rests on fewer chains than this, and on less than half of them, has no
// trustworthy standard error.
constexpr double kFewChains = 10;

Independent base_of(const LogzRequest& request) {
  const Domain& domain = request.target->domain();
  if (domain.unbounded()) {
    throw UsageError(
        "log Z is estimated from finitely many levels, but the integers of the model " +
        request.target->name() + " are unbounded");
  }
  return request.base ? *request.base : Independent::uniform(domain);
}

// All that determines the weights, so that a checkpoint is not taken for another estimate. Of the
// base and of the betas a sum.
std::string description_of(const LogzRequest& request, const Independent& base) {
  const AnnealingPlan& plan = request.plan.annealing;
  const Domain& domain = base.domain();
  Checksum betas, probabilities;
  for (const double beta : plan.betas) betas.add(std::bit_cast<std::uint64_t>(beta));
  for (int i = 0; i < domain.dim(); ++i) {
    for (int k = 0; k < domain.levels(i); ++k) {
      probabilities.add(std::bit_cast<std::uint64_t>(base.log_probability(i, k)));
    }
  }
  nlohmann::ordered_json d;
  d["version"] = version();
  d["logz"] = request.model_text;
  d["files"] = request.files;
  d["sampler"] = request.sampler;
  d["settings"] = request.settings;
  d["sum_of_base"] = probabilities.value();
  d["betas"] = plan.betas.size();
  d["sum_of_betas"] = betas.value();
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

// True when the estimate is complete; otherwise it is saved, where a file is named.
bool estimate(AisRun& run, const LogzRequest& request, const std::string& description,
              const LogzProgress& progress) {
  const std::string& file = request.checkpoint.empty() ? request.resume : request.checkpoint;
  if (!request.resume.empty()) restore(run, request.resume, description);
  std::function<void()> save;
  if (!file.empty()) {
    save = [&] {
      ByteWriter out;
      run.save(out);
      write_checkpoint(file, description, out.bytes());
    };
  }
  Pacer pacer(request.checkpoint_every, request.time_limit, save);
  const bool complete = run.go([&](const AisStatus& status) {
    const bool wanted = !progress || progress(status);
    return pacer.next() && wanted;
  });
  if (save) save();
  return complete;
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
        "not start from draws of the model; let them take more steps before they start, or take "
        "another sampler. The forward weights alone say that log Z is above {:.5g}, with 95 % "
        "confidence",
        log_z_floor(r.forward.log_z)));
  }
  return list;
}

}  // namespace

LogzRequest::LogzRequest(std::shared_ptr<const Target> of) : LogzRequest() {
  target = std::move(of);
}

LogzRequest::LogzRequest(Model model) : LogzRequest() {
  base = model_base(model.value);
  model_text = model.text;
  files = model.files;
  target = shared_target(std::move(model));
}

LogzResult logz(const LogzRequest& request, const LogzProgress& progress) {
  if (!request.target) throw UsageError("there is no target whose log Z to estimate");
  const Tempered path(*request.target, base_of(request));
  auto sampler = make_sampler(request.sampler, path, request.settings);
  const int threads = request.plan.annealing.threads;
  LogzResult result;
  result.tuned = sampler->tunable() != nullptr;
  try {
    if (request.test) result.mean_logp = mean_logp(*request.target, request.test, threads);
  } catch (const DataError& e) {
    throw DataError(request.test_name + ": " + e.what());
  }
  AisRun run(path, std::move(sampler), request.plan);
  if (!estimate(run, request, description_of(request, path.base()), progress)) return result;
  result.estimate = run.result();
  result.warnings = warnings_of(*result.estimate);
  if (const auto answer = affordable_exact_answer(*request.target, threads)) {
    result.exact = answer->log_z;
  }
  if (result.mean_logp) {
    result.log_likelihood = log_likelihood(*result.mean_logp, *result.estimate);
  }
  return result;
}

}  // namespace saltus
