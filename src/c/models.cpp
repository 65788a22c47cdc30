// Models of the C interface: made, asked and written.
#include <fmt/core.h>

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>
#include <span>

#include "c/handles.hpp"
#include "c/options.hpp"
#include "io/models/given_model.hpp"
#include "io/models/model_text.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/target/constraint.hpp"
#include "saltus/target/function.hpp"
#include "service/result_json.hpp"

namespace saltus::c {
namespace {

// Scripts are programs for libtorch, which this library never loads.
ModelOptions on_host(ProblemOptions problem = {}) {
  ModelOptions options;
  options.scripts = false;
  options.problem = std::move(problem);
  return options;
}

saltus_model* handle(AnyModel value) {
  Model made;
  made.target = make_target(value);
  made.value = std::move(value);
  return c::handle(std::move(made));
}

ProblemOptions problem_options(const char* text) {
  Options o(text);
  ProblemOptions p;
  o.take("format", p.format);
  o.take("beta", p.beta);
  o.take("maximise", p.maximise);
  o.take("vartype", p.vartype);
  o.take("problem", p.problem);
  if (o.has("penalty")) o.take("penalty", p.penalty.emplace());
  o.take("colours", p.colours, 1);
  o.take("parts", p.parts, 1);
  o.take("hard", p.hard);
  o.finish();
  return p;
}

template <class T>
std::span<const T> array(const T* data, std::size_t size, const char* name) {
  if (size > 0) need(data, name);
  return {data, size};
}

std::vector<double> numbers(const double* data, std::size_t size, const char* name) {
  const std::span<const double> given = array(data, size, name);
  for (std::size_t k = 0; k < size; ++k) {
    if (!std::isfinite(given[k])) {
      throw DataError(fmt::format("{}[{}] is {}, not a finite number", name, k, given[k]));
    }
  }
  return {given.begin(), given.end()};
}

std::vector<Coupling> couplings(std::int32_t n, std::size_t pairs, const std::int32_t* i,
                                const std::int32_t* j, const double* weight) {
  const auto rows = array(i, pairs, "i"), columns = array(j, pairs, "j");
  const std::vector<double> weights = numbers(weight, pairs, "weight");
  std::vector<Coupling> list(pairs);
  for (std::size_t k = 0; k < pairs; ++k) {
    for (const auto& [name, index] : {std::pair{"i", rows[k]}, {"j", columns[k]}}) {
      if (index >= 0 && index < n) continue;
      throw DataError(fmt::format("{}[{}] is {}; it must be from 0 to {}", name, k, index, n - 1));
    }
    list[k] = {rows[k], columns[k], weights[k]};
  }
  return list;
}

void check_distinct(const std::vector<Coupling>& list) {
  std::vector<std::pair<int, int>> pairs;
  pairs.reserve(list.size());
  for (const Coupling& c : list) {
    if (c.i == c.j) throw DataError(fmt::format("coordinate {} is coupled to itself", c.i));
    pairs.emplace_back(std::min(c.i, c.j), std::max(c.i, c.j));
  }
  std::sort(pairs.begin(), pairs.end());
  const auto twice = std::adjacent_find(pairs.begin(), pairs.end());
  if (twice == pairs.end()) return;
  throw DataError(fmt::format("the pair ({}, {}) is listed twice", twice->first, twice->second));
}

// The caller's function. One thread at a time calls it, as it may not bear more. Without a score,
// zeros stand for it: no sampler that runs reads them.
class Caller {
 public:
  Caller(saltus_function function, void* user, bool has_score)
      : function_(function), user_(user), has_score_(has_score) {}

  void operator()(const BatchCall<double>& c) const {
    // Rows of the engine may have room behind them.
    std::vector<double> dense;
    const bool gaps = c.score && c.score.stride != c.score.cols;
    const auto size = static_cast<std::size_t>(c.score ? c.score.cols : 0);
    if (gaps) dense.resize(static_cast<std::size_t>(c.rows) * size);
    double* const score = gaps ? dense.data() : c.score.data;
    {
      const std::lock_guard held(*turn_);
      if (function_(user_, c.rows, c.values.data, c.logp.data(), has_score_ ? score : nullptr)) {
        throw CallbackFailed();
      }
    }
    for (int r = 0; r < c.score.rows; ++r) {
      if (!has_score_) std::fill_n(c.score[r], size, 0.0);
      if (has_score_ && gaps) {
        std::copy_n(dense.data() + static_cast<std::size_t>(r) * size, size, c.score[r]);
      }
    }
    for (double& v : c.logp) {
      if (v == INFINITY) {
        throw DataError(
            "the target returned log p = inf for a state; expected finite numbers or -inf");
      }
      if (std::isnan(v)) v = -INFINITY;  // a state that the model forbids
    }
  }

 private:
  saltus_function function_;
  void* user_;
  bool has_score_;
  std::shared_ptr<std::mutex> turn_ = std::make_shared<std::mutex>();
};

class CallersTarget final : public BatchFunction {
 public:
  CallersTarget(Domain domain, const std::string& name, const Caller& caller, bool has_score)
      : BatchFunction(std::move(domain), Double(caller), {name, true, kAllChains}),
        has_score_(has_score) {}
  const Relaxation* relaxation() const override {
    return has_score_ ? BatchFunction::relaxation() : nullptr;
  }

 private:
  static constexpr int kAllChains = 4096;  // in one call
  bool has_score_;
};

OrderedJson levels_json(const Domain& domain) {
  if (domain.uniform_levels() > 0) return domain.uniform_levels();
  auto list = OrderedJson::array();
  for (int i = 0; i < domain.dim(); ++i) list.push_back(domain.levels(i));
  return list;
}

OrderedJson info_json(const saltus_model& m) {
  const Target& target = m.whole_target();
  const Domain& d = target.domain();
  OrderedJson j;
  j["name"] = target.name();
  j["dim"] = d.dim();
  j["shape"] = target.shape();
  j["kind"] = d.kind() == Domain::Kind::ordered ? "ordered" : "categorical";
  j["levels"] = levels_json(d);
  j["first_value"] = d.first_value();
  j["spacing"] = d.spacing();
  j["unbounded"] = d.unbounded();
  j["score_size"] = d.score_size();
  j["function"] = m.is_function();
  j["labels"] = OrderedJson::array();
  if (m.value) add_labels(j, labels_of(*m.value));
  if (m.objective) {
    j["objective"] = {{"name", m.objective->name},
                      {"sense", m.objective->maximise ? "max" : "min"},
                      {"beta", m.objective->beta}};
  } else {
    j["objective"] = nullptr;
  }
  if (m.whole) j["given"] = given_json(m.whole->given);
  add_constraint(j, target);
  return j;
}

// As saltus_model_parse reads it.
std::string text_of(const saltus_model& m) {
  if (!m.text.empty()) return m.text;
  std::string text = inline_text(*m.value);
  if (m.whole) text = OrderedJson{{"given", m.whole->given.text()}, {"of", text}}.dump();
  if (const Constraint* constraint = m.whole_target().constraint()) {
    OrderedJson restricted = OrderedJson::parse(text);
    restricted[kConstraintField] = constraint->text();
    text = restricted.dump();
  }
  return text;
}

void evaluate(const saltus_model& m, std::size_t rows, const std::uint16_t* levels, double* logp,
              double* score) {
  constexpr std::size_t kBlock = 256;
  const Target& target = m.whole_target();
  const Domain& d = target.domain();
  const auto dim = static_cast<std::size_t>(d.dim());
  const auto size = static_cast<std::size_t>(d.score_size());
  if (score && !m.has_score) throw UsageError(m.target->name() + " gives no gradient");
  const auto block = static_cast<int>(std::min(rows, kBlock));
  const RowBuffer<Symbol> x(block, d.dim());
  RowBuffer<double> s;  // null where no score is wanted
  if (score) s = RowBuffer<double>(block, d.score_size());
  Scratch scratch;
  for (std::size_t first = 0; first < rows; first += kBlock) {
    const auto count = static_cast<int>(std::min(kBlock, rows - first));
    Rows<Symbol> part = x.view();
    part.rows = count;
    for (int r = 0; r < count; ++r) {
      const std::uint16_t* from = levels + (first + static_cast<std::size_t>(r)) * dim;
      for (int i = 0; i < d.dim(); ++i) {
        if (from[i] < d.levels(i)) continue;
        throw DataError(fmt::format("state {} has level {} at coordinate {}; there are {}",
                                    first + static_cast<std::size_t>(r), from[i], i, d.levels(i)));
      }
      std::copy_n(from, dim, part[r]);
    }
    Rows<double> wanted = s.view();
    wanted.rows = score ? count : 0;
    target.evaluate_exact({0, 0, scratch}, part, logp + first, wanted);
    for (int r = 0; score && r < count; ++r) {
      std::copy_n(s.view()[r], size, score + (first + static_cast<std::size_t>(r)) * size);
    }
  }
}

}  // namespace
}  // namespace saltus::c

using namespace saltus;
using namespace saltus::c;

extern "C" {

int saltus_model_load(const char* file_or_name, const char* options, saltus_model** model) {
  return guarded([&] {
    need(file_or_name, "file_or_name"), need(model, "model");
    *model = c::handle(load_model(file_or_name, on_host(problem_options(options))));
    return SALTUS_OK;
  });
}

int saltus_model_parse(const char* text, const char* source, saltus_model** model) {
  return guarded([&] {
    need(text, "text"), need(model, "model");
    *model = c::handle(load_saved_model(text, source ? source : "the model", on_host()));
    return SALTUS_OK;
  });
}

int saltus_model_ising(int32_t n, size_t pairs, const int32_t* i, const int32_t* j,
                       const double* weight, const double* fields, saltus_model** model) {
  return guarded([&] {
    need(model, "model");
    if (n < 1) throw UsageError("there are no spins: n is " + std::to_string(n));
    IsingModel value;
    value.n = n;
    value.couplings = couplings(n, pairs, i, j, weight);
    check_distinct(value.couplings);
    value.fields = numbers(fields, static_cast<std::size_t>(n), "fields");
    *model = handle(AnyModel(std::move(value)));
    return SALTUS_OK;
  });
}

int saltus_model_quadratic(int32_t n, int32_t levels, size_t pairs, const int32_t* i,
                           const int32_t* j, const double* weight, const double* fields,
                           saltus_model** model) {
  return guarded([&] {
    need(model, "model");
    if (n < 1) throw UsageError("there are no coordinates: n is " + std::to_string(n));
    if (levels < 2 || levels > Domain::kMaxLevels) {
      throw UsageError(
          fmt::format("levels is {}; it must be from 2 to {}", levels, Domain::kMaxLevels));
    }
    QuadraticModel value{Domain::ordered(n, levels), couplings(n, pairs, i, j, weight),
                         numbers(fields, static_cast<std::size_t>(n), "fields")};
    *model = handle(AnyModel(std::move(value)));
    return SALTUS_OK;
  });
}

int saltus_model_rbm(int32_t hidden, int32_t visible, const double* weights,
                     const double* visible_bias, const double* hidden_bias, saltus_model** model) {
  return guarded([&] {
    need(model, "model");
    if (hidden < 1 || visible < 1) throw UsageError("an rbm has hidden and visible units");
    const auto h = static_cast<std::size_t>(hidden), v = static_cast<std::size_t>(visible);
    *model = handle(AnyModel(RbmModel{numbers(weights, h * v, "weights"),
                                      numbers(visible_bias, v, "visible_bias"),
                                      numbers(hidden_bias, h, "hidden_bias")}));
    return SALTUS_OK;
  });
}

int saltus_model_function(const char* domain, const char* name, int has_score,
                          saltus_function function, void* user, saltus_model** model) {
  return guarded([&] {
    need(model, "model");
    if (!function) throw UsageError("there is no function");
    auto made = std::make_unique<saltus_model>();
    made->has_score = has_score != 0;
    made->target =
        std::make_shared<CallersTarget>(domain_in(domain), name && *name ? name : "function",
                                        Caller(function, user, made->has_score), made->has_score);
    *model = made.release();
    return SALTUS_OK;
  });
}

void saltus_model_free(saltus_model* model) {
  delete model;
}

int saltus_model_info(const saltus_model* model, char** json) {
  return guarded([&] {
    need(model, "model"), need(json, "json");
    *json = copied(info_json(*model).dump());
    return SALTUS_OK;
  });
}

int saltus_model_samplers(const saltus_model* model, char** json) {
  return guarded([&] {
    need(model, "model"), need(json, "json");
    *json = copied(OrderedJson(samplers_of(*model)).dump());
    return SALTUS_OK;
  });
}

int saltus_model_text(const saltus_model* model, char** json) {
  return guarded([&] {
    need(model, "model"), need(json, "json");
    if (model->is_function()) throw UsageError("a function has no text");
    *json = copied(text_of(*model));
    return SALTUS_OK;
  });
}

int saltus_model_write(const saltus_model* model, const char* path) {
  return guarded([&] {
    need(model, "model"), need(path, "path");
    if (model->is_function()) throw UsageError("a function cannot be written to a file");
    if (names_problem_file(path)) {
      write_problem(path, *model->value);
    } else {
      write_model(path, *model->value);
    }
    return SALTUS_OK;
  });
}

int saltus_model_logp(const saltus_model* model, size_t rows, const uint16_t* levels, double* logp,
                      double* score) {
  return guarded([&] {
    if (rows == 0) return SALTUS_OK;
    need(model, "model"), need(levels, "levels"), need(logp, "logp");
    evaluate(*model, rows, levels, logp, score);
    return SALTUS_OK;
  });
}

int saltus_built_in_models(char** json) {
  return guarded([&] {
    need(json, "json");
    auto list = OrderedJson::array();
    for (const BuiltInModel& m : built_in_models()) {
      list.push_back({{"name", m.name}, {"summary", m.summary}});
    }
    *json = copied(list.dump());
    return SALTUS_OK;
  });
}

int saltus_samplers(char** json) {
  return guarded([&] {
    need(json, "json");
    auto list = OrderedJson::array();
    for (const SamplerEntry& s : sampler_entries()) {
      list.push_back({{"name", s.name}, {"summary", s.summary}, {"parameters", s.parameters}});
    }
    *json = copied(list.dump());
    return SALTUS_OK;
  });
}
}
