// log Z, verification, races, searches, certificates and exact answers for the C interface.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "c/handles.hpp"
#include "c/options.hpp"
#include "saltus/anneal.hpp"
#include "saltus/certify.hpp"
#include "saltus/compare.hpp"
#include "saltus/logz.hpp"
#include "saltus/verify.hpp"
#include "service/parts.hpp"
#include "service/result_json.hpp"
#include "service/whole.hpp"

namespace saltus::c {
namespace {

struct Listener {
  saltus_progress call;
  void* user;
  bool operator()(const char* stage, double done, double seconds = NAN, double best = NAN) const {
    if (!call) return true;
    const saltus_status status = {stage, done, 0, 0, seconds, NAN, NAN, best};
    return call(user, &status) == 0;
  }
};

// ---- log Z ----

void take_annealing(Options& o, AisPlan& plan) {
  AnnealingPlan& a = plan.annealing;
  if (o.has("betas") && o.at("betas").is_array()) {
    o.take("betas", a.betas);
    check_betas(a.betas);
  } else {
    int count = 1000;
    o.take("betas", count, 2, 100'000'000);
    a.betas = linear_betas(count);
  }
  o.take("steps", a.steps_per_beta, 1, 1'000'000);
  o.take("chains", a.chains, 2, 10'000'000);
  o.take("reverse", plan.reverse);
  o.take("reverse_warmup", plan.warmup, 1);
  o.take("threads", a.threads, 0, 4096);
  o.take_seed(a.seed);
}

LogzTempering tempering_of(Options& o, const AnnealingPlan& a) {
  LogzTempering t;
  o.take("ensembles", t.run.chains, 2, 1'000'000);
  o.take("warmup", t.run.warmup, 0);
  o.take("draws", t.run.draws, 1);
  if (!o.has("replicas") || o.at("replicas") != "auto") o.take("replicas", t.replicas, 2);
  t.steps = a.steps_per_beta;
  t.run.seed = a.seed;
  t.run.threads = a.threads;
  return t;
}

// Says which base it is.
std::string take_base(Options& o, const saltus_model& m, LogzRequest& r) {
  r.base = m.base;
  if (!o.has("base")) return m.base ? "model" : "uniform";
  if (o.at("base").is_array()) {
    std::vector<double> probabilities;
    o.take("base", probabilities);
    if (m.whole) {
      probabilities = free_probabilities(probabilities, m.target->domain(), m.whole->given);
    }
    r.base = Independent::with_probabilities(m.target->domain(), probabilities);
    return "given";
  }
  std::string name;
  o.take("base", name);
  if (name == "model" && !m.base) {
    throw UsageError("the model " + m.target->name() + " has no base of its own");
  }
  if (name != "model" && name != "uniform") {
    o.refuse("base", "uniform, model or a list of probabilities");
  }
  if (name == "uniform") r.base.reset();
  return name;
}

struct LogzWork {
  LogzRequest request;
  LogzNames names;
};

LogzWork logz_work(const saltus_model& m, const char* options) {
  Options o(options);
  LogzWork w{LogzRequest(m.target), {"ais", "", "the test data", 0, m.whole.get()}};
  LogzRequest& r = w.request;
  o.take_sampler(r.sampler, r.settings);
  o.take("method", w.names.method);
  const std::string& method = w.names.method;
  if (method != "ais" && method != "tempering" && method != "both") {
    o.refuse("method", "ais, tempering or both");
  }
  take_annealing(o, r.plan);
  r.plan.annealing.threads = threads_for(m, r.plan.annealing.threads);
  r.annealing = method != "tempering";
  const LogzTempering tempering = tempering_of(o, r.plan.annealing);
  if (method != "ais") r.tempering = tempering;
  w.names.base = take_base(o, m, r);
  o.take("checkpoint", r.checkpoint);
  o.take("resume", r.resume);
  o.take("checkpoint_every", r.checkpoint_every, 0);
  o.take("overwrite", r.overwrite);
  o.take("time_limit", r.time_limit, 0);
  r.model_text = m.text;
  r.files = m.files;
  o.finish();
  check_sampler(m, r.sampler, r.settings);
  return w;
}

// ---- compare ----

Contender contender_in(const nlohmann::json& entry) {
  if (entry.is_string()) return parse_contender(entry.get<std::string>());
  Contender c;
  const std::string text = entry.dump();
  Options o(text.c_str());
  o.take_sampler(c.sampler, c.settings);
  o.finish();
  if (c.sampler.empty()) throw UsageError("a contender without a sampler: " + text);
  return c;
}

CompareRequest compare_request(const saltus_model& m, const char* options) {
  Options o(options);
  CompareRequest r;
  r.target = m.target;
  if (o.has("samplers")) {
    if (!o.at("samplers").is_array()) o.refuse("samplers", "a list");
    for (const auto& entry : o.at("samplers")) r.contenders.push_back(contender_in(entry));
  } else if (!m.has_score) {
    for (const std::string& name : samplers_of(m)) r.contenders.push_back({name, {}});
  }
  for (const Contender& c : r.contenders) check_sampler(m, c.sampler, c.settings);
  o.take("budget", r.plan.seconds, 1e-3);
  o.take("chains", r.plan.chains, 2, 100'000);
  o.take("threads", r.plan.threads, 0, 4096);
  o.take_seed(r.plan.seed);
  o.finish();
  r.plan.threads = threads_for(m, r.plan.threads);
  r.plan.warmup_seconds = r.plan.seconds / 4;
  if (m.base) r.plan.base = std::make_shared<Independent>(*m.base);
  return r;
}

// ---- anneal ----

struct AnnealWork {
  AnnealRequest request;
  std::string schedule = "adaptive";
};

AnnealWork anneal_work(const saltus_model& m, const char* options) {
  Options o(options);
  AnnealWork w{AnnealRequest(m.target)};
  AnnealRequest& r = w.request;
  r.objective = m.objective;
  r.problem = m.problem;
  r.whole = m.whole;
  if (m.value) r.labels = labels_of(*m.value);
  o.take_sampler(r.sampler, r.settings);
  if (r.sampler == "auto" && !r.settings.empty()) {
    throw UsageError("set has no place beside the sampler auto: name a sampler");
  }
  std::string method = "annealing";
  o.take("method", method);
  if (method != "annealing" && method != "population") {
    o.refuse("method", "annealing or population");
  }
  r.population = method == "population";
  o.take("restarts", r.restarts, 1, 1'000'000'000);
  o.take("steps", r.steps, 1, 1'000'000'000);
  o.take("schedule", w.schedule);
  const std::string kinds[] = {"adaptive", "linear", "geometric"};  // as in ScheduleKind
  const auto kind = std::ranges::find(kinds, w.schedule);
  if (kind == std::end(kinds)) o.refuse("schedule", "adaptive, linear or geometric");
  r.schedule = static_cast<ScheduleKind>(kind - std::begin(kinds));
  if (o.has("first")) o.take("first", r.first.emplace());
  if (o.has("last")) o.take("last", r.last.emplace());
  if (o.has("goal")) {
    double goal = 0;
    o.take("goal", goal);
    r.goal = r.objective ? r.objective->logp(goal) : goal;
  }
  o.take("polish", r.polish);
  o.take("time_limit", r.time_limit, 0);
  o.take("threads", r.threads, 0, 4096);
  o.take_seed(r.seed);
  o.finish();
  if (!m.has_score && r.sampler == "auto") r.sampler = "gibbs";
  check_sampler(m, r.sampler, r.settings);
  r.threads = threads_for(m, r.threads);
  return w;
}

// ---- exact ----

// By going through all states: the same fields as by elimination, without what only that has.
OrderedJson enumerated_json(const Target& target, const ExactAnswer& answer) {
  OrderedJson j = {{"model", target.name()},
                   {"dim", target.domain().dim()},
                   {"log_z", json_number(answer.log_z)},
                   {"mean", answer.means}};
  const Domain& d = target.domain();
  auto marginals = OrderedJson::array();
  for (int i = 0; i < d.dim(); ++i) {
    if (!answer.classes.empty()) {
      const auto begin = answer.classes.begin() + d.score_begin(i);
      marginals.push_back(std::vector<double>(begin, begin + d.levels(i)));
    } else if (d.levels(i) == 2) {
      const double p = (answer.means[static_cast<std::size_t>(i)] - d.first_value()) / d.spacing();
      marginals.push_back({1 - p, p});
    }
  }
  if (static_cast<int>(marginals.size()) == d.dim()) j["marginals"] = marginals;
  return j;
}

OrderedJson exact_answer_json(const saltus_model& m, const EliminationLimits& limits) {
  const Target& target = *m.target;
  const std::optional<FactorsModel> graph =
      target.constraint() ? std::nullopt : factor_graph(target);
  if (graph) {
    const EliminationAnswer answer = eliminate(*graph, limits);
    if (answer.best.empty()) throw DataError("every state of the model has probability 0");
    return exact_json(m.whole_target(), m.whole ? with_given(answer, m.whole->given) : answer,
                      m.value ? labels_of(*m.value) : Labels{}, m.whole.get());
  }
  const Domain& d = target.domain();
  if (!d.unbounded() && count_states(target, static_cast<std::uint64_t>(kExactWork / d.dim()))) {
    const ExactAnswer answer = exact_answer(target, threads_for(m, 0));
    return enumerated_json(m.whole_target(),
                           m.whole ? with_given(answer, target, *m.whole) : answer);
  }
  throw UsageError("there is no exact answer for the model " + m.whole_target().name() +
                   ": it is not made of factors over few coordinates with finitely many levels, "
                   "and has too many states to go through");
}

// ---- certify ----

CertifyRequest certify_request(const saltus_model& m, const char* options) {
  Options o(options);
  CertifyRequest r{.target = m.target};
  o.take_sampler(r.sampler, r.settings);
  o.take("pairs", r.pairs, 2, 10'000'000);
  if (o.has("lag")) o.take("lag", r.lag.emplace(), 1);
  o.take("max_steps", r.max_steps, 1);
  o.take("warmup", r.warmup, 0);
  o.take("threads", r.threads, 0, 4096);
  o.take_seed(r.seed);
  o.finish();
  check_sampler(m, r.sampler, r.settings);
  r.threads = threads_for(m, r.threads);
  return r;
}

}  // namespace
}  // namespace saltus::c

using namespace saltus;
using namespace saltus::c;

extern "C" {

int saltus_logz(const saltus_model* model, const char* options, size_t test_rows,
                const uint16_t* test, saltus_progress progress, void* user, char** json) {
  return guarded([&] {
    need(model, "model"), need(json, "json");
    LogzWork work = logz_work(*model, options);
    RowBuffer<Symbol> rows;
    if (test_rows > 0) {
      need(test, "test");
      if (model->whole) {
        throw UsageError("data have no place beside given values: they are of all coordinates");
      }
      rows = free_rows(*model, test_rows, test, "the data");
      work.request.test = rows.view();
      work.request.test_name = work.names.test;
      work.names.test_rows = static_cast<int>(test_rows);
    }
    const Listener listener{progress, user};
    const LogzResult result = logz(work.request, [&](const LogzStatus& s) {
      const char* stages[] = {"warm-up", "forward", "reverse", "tempering"};
      return listener(stages[static_cast<int>(s.stage)], s.done);
    });
    if (!result.complete) {
      *json = copied(R"({"complete": false})");
      return SALTUS_STOPPED;
    }
    *json = copied(logz_json(work.request, result, work.names).dump());
    return SALTUS_OK;
  });
}

int saltus_verify(const saltus_model* model, const char* options, saltus_progress progress,
                  void* user, char** json) {
  return guarded([&] {
    need(model, "model"), need(json, "json");
    Options o(options);
    VerifyRequest request{model->target};
    o.take_sampler(request.sampler, request.settings);
    o.finish();
    check_sampler(*model, request.sampler, request.settings);
    const Listener listener{progress, user};
    bool stopped = false;
    VerifyResult result = verify(request, [&](const Check& c) {
      stopped = !listener(c.name.c_str(), 0);
      return !stopped;
    });
    for (Check& c : result.checks) {
      if (c.name != "gradient" || model->has_score) continue;
      c = {c.name, Check::Outcome::skipped, "the target gives no gradient"};
    }
    *json = copied(verify_json(request, result).dump());
    return stopped ? SALTUS_STOPPED : SALTUS_OK;
  });
}

int saltus_compare(const saltus_model* model, const char* options, saltus_progress progress,
                   void* user, char** json) {
  return guarded([&] {
    need(model, "model"), need(json, "json");
    const CompareRequest request = compare_request(*model, options);
    const Listener listener{progress, user};
    const CompareResult result =
        compare(request, [&](const std::string& label, int turn, int turns) {
          return listener(label.c_str(), static_cast<double>(turn) / turns);
        });
    if (!result.complete) {
      *json = copied(R"({"complete": false})");
      return SALTUS_STOPPED;
    }
    *json = copied(
        compare_json({model->whole_target(), request.plan, result, model->whole.get()}).dump());
    return SALTUS_OK;
  });
}

int saltus_anneal(const saltus_model* model, const char* options, saltus_progress progress,
                  void* user, char** json) {
  return guarded([&] {
    need(model, "model"), need(json, "json");
    const AnnealWork work = anneal_work(*model, options);
    const Listener listener{progress, user};
    const AnnealResult result = anneal(work.request, [&](const AnnealStatus& s) {
      const char* stages[] = {"range", "pilot", "restarts", "polish"};
      return listener(stages[static_cast<int>(s.stage)], s.done, s.seconds, s.best);
    });
    std::string text;
    write_json(anneal_json(work.request, result, model->whole_target().name(), work.schedule),
               {{"betas", result.betas}}, -1, [&](std::string_view part) { text += part; });
    *json = copied(text);
    return result.complete ? SALTUS_OK : SALTUS_STOPPED;
  });
}

int saltus_certify(const saltus_model* model, const char* options, saltus_progress progress,
                   void* user, char** json) {
  return guarded([&] {
    need(model, "model"), need(json, "json");
    const CertifyRequest request = certify_request(*model, options);
    const Listener listener{progress, user};
    CertifyResult result = certify(request, [&](const CertifyStatus& s) {
      return listener(s.pilot ? "pilot" : "coupling", static_cast<double>(s.done) / s.pairs);
    });
    const WholeModel* const whole = model->whole.get();
    for (UnbiasedMean& m : result.means) {
      if (whole && m.coordinate >= 0) {
        m.coordinate = whole->given.free()[static_cast<std::size_t>(m.coordinate)];
      }
    }
    const auto name = [](const UnbiasedMean& m) {
      return m.coordinate < 0 ? "log p" : std::to_string(m.coordinate);
    };
    *json = copied(certificate_json(request, result, whole, name).dump());
    return result.complete ? SALTUS_OK : SALTUS_STOPPED;
  });
}

int saltus_exact(const saltus_model* model, const char* options, char** json) {
  return guarded([&] {
    need(model, "model"), need(json, "json");
    Options o(options);
    EliminationLimits limits;
    std::uint64_t memory = limits.memory;
    o.take("memory", memory, 1);
    o.finish();
    limits.memory = memory;
    *json = copied(exact_answer_json(*model, limits).dump());
    return SALTUS_OK;
  });
}
}
