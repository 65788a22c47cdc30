// Deep energies of binary images: their test log-likelihood by the sampler that they learned with
// (Table 1).
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "reproduce/data/image_sets.hpp"
#include "reproduce/ebm/cell.hpp"
#include "saltus/anneal/ais.hpp"
#include "saltus/core/error.hpp"

namespace saltus::reproduce {
namespace {

// How far outside of our interval the paper's number may lie: it is of one run, whose spread over
// seeds nobody gives.
constexpr double kTolerance = 1.0;
constexpr double kWidest = 4;         // interval that can be judged by, nats
constexpr double kFewestChains = 20;  // that the weights of either direction must be worth

bool quoted(const EbmCell& cell) {
  return cell.sampler == "gwg" || cell.sampler == "gibbs";
}

Json setting_of(const EbmCell& cell) {
  Json j = {{"dataset", cell.dataset}, {"sampler", cell.label}};
  if (!std::isnan(cell.alpha) && !cell.tuned) j["alpha"] = cell.alpha;
  if (cell.rate > 0) j["rate"] = cell.rate;
  return j;
}

// ---- Rows

// Forward and reverse contradict each other: only what the forward direction says is sure.
bool contradictory(const EbmEvaluation& e) {
  return e.low > e.high;
}

double estimate_of(const EbmEvaluation& e) {
  return contradictory(e) ? e.mean_logp - e.forward : (e.low + e.high) / 2;
}

double bound_of(const EbmEvaluation& e) {
  return e.mean_logp - log_z_floor(e.forward);
}

bool stand_still(const EbmRecord& record) {
  return !record.history.empty() && record.history.back().stands_still();
}

// Validations above that of the chosen parameters, which were therefore not sound.
bool higher_ones(const EbmRecord& record) {
  const Validation* chosen = record.chosen();
  return chosen && std::any_of(record.validations.begin(), record.validations.end(),
                               [&](const Validation& v) {
                                 return v.log_likelihood() > chosen->log_likelihood();
                               });
}

// One sentence for each setting that is not the paper's.
std::string cut_of(const EbmRecord& record, const EbmProtocol& whole) {
  const EbmEvaluation& e = *record.evaluation;
  std::string text;
  if (!record.failure.empty()) {
    text += fmt::format("Learning ended early: {}. ", record.failure);
  } else if (e.iterations < whole.plan.iterations) {
    text +=
        fmt::format("Cut: {} of {} iterations of learning. ", e.iterations, whole.plan.iterations);
  } else if (e.iterations > whole.plan.iterations) {
    text += fmt::format("Longer: {} iterations of learning instead of {}. ", e.iterations,
                        whole.plan.iterations);
  }
  if (stand_still(record)) {
    text += fmt::format(
        "At the end of learning the chains stand still: {:.2g} pixels change in a step. ",
        record.history.back().changed);
  }
  if (e.best_iteration < e.iterations) {
    text += fmt::format(
        "Evaluated are the parameters of iteration {}, of the best validation{}. ",
        e.best_iteration,
        higher_ones(record)
            ? " that counts: higher ones rest on one chain, or on chains that hardly move"
            : "");
  }
  if (e.betas < whole.betas || e.chains < whole.chains) {
    text += fmt::format("Reduced: log Z from {} betas and {} chains instead of {} and {}. ",
                        e.betas, e.chains, whole.betas, whole.chains);
  }
  return text;
}

std::string interval_note(const EbmEvaluation& e) {
  const std::string weights = fmt::format("{} images; weights worth {:.0f} and {:.0f} of {} chains",
                                          e.images, e.forward_ess, e.reverse_ess, e.chains);
  if (!contradictory(e)) {
    return fmt::format("Between {:.2f} and {:.2f} ({}; log Z between {:.2f} and {:.2f}). ", e.low,
                       e.high, weights, e.mean_logp - e.high, e.mean_logp - e.low);
  }
  return fmt::format(
      "At most {:.2f} with 95 % confidence, by the forward direction alone ({}). Annealing in "
      "reverse gives a log Z of {:.2f}, below the {:.2f} of the forward direction: the chains of "
      "the learning, from which it starts, miss a part of the model. ",
      bound_of(e), weights, e.reverse, e.forward);
}

// How a cell that is not the paper's departs from it.
std::string departure_of(const EbmCell& cell, const EbmProtocol& whole) {
  if (cell.rate > 0) {
    return fmt::format("the learning rate is {} instead of {}", cell.rate, whole.plan.rate);
  }
  std::string text = "the step size follows the acceptance, towards 57.4 %";
  if (cell.penalty > 0) {
    text +=
        fmt::format(", and the loss has {} times the mean squares of f over data and over chains",
                    cell.penalty);
  }
  if (cell.steady) {
    text +=
        "; a quarter of the steps are GWG-1's, and over the second half the learning rate falls to "
        "0";
  }
  return text;
}

void judge_likelihood(const EbmRecord& record, Row& row) {
  const EbmEvaluation& e = *record.evaluation;
  const EbmProtocol whole = EbmProtocol::full();
  row.note += cut_of(record, whole);
  for (const std::string& note : record.notes) row.note += note + " ";
  if (!record.cell.published()) {
    row.note += "Not in the paper: " + departure_of(record.cell, whole) + ".";
    return;
  }
  const double paper = record.cell.paper;
  row.paper = paper;
  row.verdict = Verdict::undecided;
  if (quoted(record.cell)) row.note += "The paper quotes its number from earlier work. ";
  if ((e.iterations != whole.plan.iterations && record.failure.empty()) || !record.notes.empty()) {
    row.note += "Not comparable with the paper's number.";
  } else if (contradictory(e) && paper > bound_of(e) + kTolerance) {
    row.verdict = Verdict::differs;
  } else if (contradictory(e)) {
    row.note += "A bound from one side says nothing on a number below it.";
  } else if (e.high - e.low > kWidest) {
    row.note += "The interval is too wide for a verdict.";
  } else if (std::min(e.forward_ess, e.reverse_ess) < kFewestChains) {
    row.note +=
        fmt::format("Weights that are worth fewer than {} chains do not decide.", kFewestChains);
  } else {
    row.verdict = judge_interval(e.low, e.high, paper, kTolerance);
    row.note += fmt::format(
        "They agree when the paper's number is within {} of the interval; it has no spread, and "
        "comes from the forward direction alone, which tends to be too high.",
        kTolerance);
  }
}

void add_likelihood(const EbmRecord& record, bool quick, Results& results) {
  const EbmEvaluation& e = *record.evaluation;
  Json setting =
      with(setting_of(record.cell), "low", contradictory(e) ? Json(nullptr) : Json(e.low));
  setting["high"] = contradictory(e) ? bound_of(e) : e.high;
  Row& row = results.add("test_log_likelihood", setting, {estimate_of(e)}, interval_note(e));
  if (!quick) judge_likelihood(record, row);
}

void add_rows(const EbmRecord& record, const EbmProtocol& protocol, bool quick, Results& results) {
  const auto add = [&](const char* quantity, double value, std::string note, Json more = {}) {
    Json setting = setting_of(record.cell);
    if (!more.is_null()) setting.update(more);
    results.add(quantity, setting, {value}, std::move(note));
  };
  if (record.evaluation) add_likelihood(record, quick, results);
  if (const Validation* v = record.chosen()) {
    add("validation_log_likelihood", v->log_likelihood(),
        fmt::format("Chosen from {}; at most so much: forward direction, {} betas, {} chains, "
                    "weights worth {:.0f} of them, acceptance {:.2f}.",
                    record.validations.size(), protocol.plan.validation_betas,
                    protocol.plan.validation_chains, v->ess, v->acceptance),
        {{"iteration", v->iteration}});
  }
  if (const auto& e = record.evaluation) {
    add("ess_of_weights", e->forward_ess, fmt::format("Of {} chains.", e->chains),
        {{"direction", "forward"}});
    add("ess_of_weights", e->reverse_ess, fmt::format("Of {} chains.", e->chains),
        {{"direction", "reverse"}});
    add("evaluation_seconds", e->seconds, "Both directions of log Z.");
  }
  if (record.history.empty()) return;
  const EbmInfo& last = record.history.back();
  add("iterations", static_cast<double>(last.iteration),
      record.failure.empty() ? "Of learning, so far." : "Then " + record.failure + ".");
  add("acceptance", last.acceptance, "Of the chains, in the last iterations.");
  add("changes_per_step", last.changed, "Pixels, in the last iterations.");
  if (record.cell.tuned) add("step_size", last.step_size, "In the last iteration.");
  add("milliseconds_per_iteration", 1e3 * (last.sampling_seconds + last.update_seconds),
      fmt::format("Sampling {:.0f} %.",
                  100 * last.sampling_seconds / (last.sampling_seconds + last.update_seconds)));
}

// ---- The page

void add_plots(const std::string& dataset, const std::vector<const EbmRecord*>& records,
               Section& section) {
  const auto add = [&](const char* what, const char* label, const std::string& summary, auto of) {
    Plot plot = labelled(dataset + ": " + what, "iterations", label, summary);
    for (const EbmRecord* record : records) {
      Series series{record->cell.label};
      of(*record, series);
      if (!series.x.empty()) plot.series.push_back(std::move(series));
    }
    if (!plot.series.empty()) section.plots.push_back(std::move(plot));
  };
  // A plot of larger values would show nothing else.
  const auto history = [](auto value, double limit = INFINITY) {
    return [value, limit](const EbmRecord& record, Series& series) {
      for (const EbmInfo& info : record.history) {
        const double y = std::invoke(value, info);
        if (std::abs(y) <= limit) series.add(static_cast<double>(info.iteration), y);
      }
      report::thin(series, 400);
    };
  };
  add("validation log-likelihood", "log-likelihood",
      "Of the averaged parameters. The estimate of log Z tends to be too low, so that these tend "
      "to be too high; those above 0, which are impossible, are left out.",
      [](const EbmRecord& record, Series& series) {
        for (const Validation& v : record.validations) {
          if (v.possible()) series.add(static_cast<double>(v.iteration), v.log_likelihood());
        }
      });
  add("loss", "mean log p of samples less that of data",
      fmt::format("It tells that learning goes on, not how good the model is. Values beyond {} "
                  "either way are left out.",
                  EbmInfo::kLargestLoss),
      history(&EbmInfo::loss, EbmInfo::kLargestLoss));
  add("changes of a chain in a step", "pixels", "", history(&EbmInfo::changed));
  add("acceptance", "mean acceptance probability", "", history(&EbmInfo::acceptance));
  const auto add_history = history(&EbmInfo::step_size);
  add("step size", "alpha", "", [&](const EbmRecord& record, Series& series) {
    if (record.cell.tuned) add_history(record, series);
  });
}

// Our intervals, and the published numbers beside them. Where the directions contradict each other
// only a bound is known.
std::optional<Plot> likelihood_plot(const std::string& dataset,
                                    const std::vector<const EbmRecord*>& records) {
  Plot plot = labelled(dataset + ": test log-likelihood", "", "log-likelihood",
                       "Intervals from annealing both ways; upper bounds with 95 % confidence "
                       "where the two directions contradict each other.");
  plot.kind = Plot::Kind::scatter;
  plot.wide = true;
  Series ours{"ours"}, bounds{"ours, at most"}, published{"published"};
  for (const EbmRecord* r : records) {
    if (!r->evaluation) continue;
    const EbmEvaluation& e = *r->evaluation;
    const auto at = static_cast<double>(plot.categories.size());
    plot.categories.push_back(r->cell.label);
    if (r->cell.published()) published.add(at, r->cell.paper);
    if (contradictory(e)) {
      bounds.add(at, bound_of(e));
    } else {
      ours.add(at, estimate_of(e));
      ours.low.push_back(e.low), ours.high.push_back(e.high);
    }
  }
  for (Series& series : {std::ref(ours), std::ref(bounds), std::ref(published)}) {
    if (!series.x.empty()) plot.series.push_back(std::move(series));
  }
  if (plot.series.empty()) return std::nullopt;
  return plot;
}

std::string interval_text(const EbmEvaluation& e) {
  if (contradictory(e)) return fmt::format("{:.2f} (at most {:.2f})", estimate_of(e), bound_of(e));
  return fmt::format("{:.2f} ({:.2f} to {:.2f})", (e.low + e.high) / 2, e.low, e.high);
}

report::Table table_of(const std::vector<EbmRecord>& records) {
  report::Table table{
      "Test log-likelihood, in nats: the paper's number, then the middle of our interval and its "
      "ends. A dash: not run, or not finished.",
      {"Data", "Sampler", "Paper", "Ours", "Learned", "log Z by"}};
  for (const EbmRecord& r : records) {
    const auto& e = r.evaluation;
    const std::uint64_t iterations = e                   ? e->iterations
                                     : r.history.empty() ? 0
                                                         : r.history.back().iteration;
    table.rows.push_back(
        {r.cell.dataset, r.cell.label,
         Cell(r.cell.paper, !r.cell.published() ? "-" : fmt::format("{:.2f}", r.cell.paper)),
         e ? Cell(estimate_of(*e), interval_text(*e)) : Cell(std::nan(""), "-"),
         Cell(static_cast<double>(iterations),
              r.begun() ? fmt::format("{} iterations", iterations) : "-"),
         e ? fmt::format("{} betas, {} chains", e->betas, e->chains) : "-"});
  }
  return table;
}

void add_sections(const std::vector<EbmRecord>& records, const EbmProtocol& protocol, bool quick,
                  Results& results) {
  Section table{"Table 1", {}, {}, {table_of(records)}};
  const EbmPlan& plan = protocol.plan;
  if (quick) {
    table.text.push_back(
        "This is the quick version: a small network, few images, few iterations. It shows that all "
        "parts work; its numbers are not the paper's.");
  }
  table.text.push_back(
      fmt::format("log p(x) = f(x) + log of independent pixels with the data's means. f is a "
                  "residual network of {} blocks and {} channels, {} parameters. Batches of {}, as "
                  "many of {} chains (Caltech: at most 1000) making {} steps in an iteration, Adam "
                  "at rate {} after {} iterations of warm-up, {} iterations, average of the "
                  "parameters with decay {}. A row that names another rate uses that one.",
                  protocol.shape.blocks, protocol.shape.channels, parameter_count(protocol.shape),
                  plan.batch, plan.buffer, plan.steps, plan.rate, plan.rate_warmup, plan.iterations,
                  protocol.network.average_decay));
  table.text.push_back(fmt::format(
      "The parameters with the best of the validations are evaluated. Validations come every {} "
      "iterations, on Caltech every {}, with {} betas and {} chains of the learning's own sampler; "
      "DMALA validates for DULA, which is not exact, and for Gibbs-1, which is too slow. The "
      "evaluation estimates log Z by annealed importance sampling with GWG-1, {} betas and {} "
      "chains, forward and in reverse; the latter starts from chains of the learning at that "
      "validation, after {} more steps. The paper's numbers come from the forward direction alone.",
      plan.validate_every, validations_every("caltech", protocol), plan.validation_betas,
      plan.validation_chains, protocol.betas, protocol.chains, protocol.warmup));
  results.sections.push_back(std::move(table));
  for (const std::string& dataset : image_set_names()) {
    std::vector<const EbmRecord*> some;
    for (const EbmRecord& r : records) {
      if (r.cell.dataset == dataset && r.begun()) some.push_back(&r);
    }
    if (some.empty()) continue;
    Section section{"Learning from " + dataset, some[0]->notes};
    if (auto plot = likelihood_plot(dataset, some)) section.plots.push_back(*std::move(plot));
    add_plots(dataset, some, section);
    for (const EbmRecord* r : some) {
      if (r == some[0] && !r->data.empty()) {
        section.pictures.push_back(
            {dataset + ".png", {r->data, "a grid of images: test images of " + dataset, "data"}});
      }
      if (r->samples.empty()) continue;
      section.pictures.push_back(
          {r->cell.folder() + ".png",
           {r->samples,
            "a grid of images: chains of the learning with " + r->cell.label + " on " + dataset,
            r->cell.label}});
    }
    section.pictures_caption = "Test images, and chains of the learning as they are now.";
    results.sections.push_back(std::move(section));
  }
}

void add_findings(const std::vector<EbmRecord>& records, bool finished, Results& results) {
  std::vector<std::string> done, open;
  for (const EbmRecord& r : records) {
    if (r.evaluation && r.problem.empty()) {
      done.push_back(fmt::format("{} {}", r.cell.name(), interval_text(*r.evaluation)));
      if (!r.failure.empty()) {
        done.back() += fmt::format(" of learning that failed in iteration {}, evaluated at {}",
                                   r.evaluation->iterations, r.evaluation->best_iteration);
      } else if (stand_still(r)) {
        done.back() +=
            fmt::format(" of learning whose chains stand still at its end, evaluated at {}",
                        r.evaluation->best_iteration);
      }
    } else {
      open.push_back(!r.problem.empty()   ? fmt::format("{} ({})", r.cell.name(), r.problem)
                     : !r.failure.empty() ? r.cell.name() + " (failed)"
                     : r.begun()          ? fmt::format("{} (at iteration {})", r.cell.name(),
                                               r.history.empty() ? 0 : r.history.back().iteration)
                                          : r.cell.name());
    }
  }
  if (!done.empty()) {
    results.findings.push_back(
        fmt::format("Test log-likelihoods, with their intervals: {}.", fmt::join(done, ", ")));
  }
  if (!open.empty()) {
    results.findings.push_back(
        fmt::format("Not complete: {}.{}", fmt::join(open, ", "),
                    finished ? "" : " The same command goes on where it stopped."));
  }
}

EbmMakers makers_of(const Context& context, const EbmProtocol& protocol) {
  const DeviceChoice choice{context.options().device, {}};
  const std::filesystem::path data = context.options().data;
  const char* what = "the experiment ebm";
  NetworkLearning learning = protocol.network;
  learning.threads = context.options().threads;
  return {
      [data](const std::string& dataset) { return load_image_set(dataset, data); },
      [=](ResnetEnergy start, double energy_penalty) {
        NetworkLearning own = learning;
        own.energy_penalty = energy_penalty;
        return torch_module(what).learn_resnet(std::move(start), own, choice);
      },
      [=](ResnetEnergy energy) { return torch_module(what).resnet(std::move(energy), choice); }};
}

EbmProtocol protocol_of(const Options& options) {
  EbmProtocol protocol = options.quick ? EbmProtocol::quick() : EbmProtocol::full();
  if (options.iterations > 0) protocol.plan.iterations = options.iterations;
  if (options.reduced) protocol.reduce_evaluation();
  return protocol;
}

}  // namespace

Results ebm_results(const std::vector<EbmRecord>& records, const EbmProtocol& protocol, bool quick,
                    bool finished) {
  Results results;
  add_findings(records, finished, results);
  for (const EbmRecord& record : records) add_rows(record, protocol, quick, results);
  add_sections(records, protocol, quick, results);
  return results;
}

Results run_ebm(Context& context) {
  const Options& options = context.options();
  if (options.seeds != 1 || !options.alphas.empty()) {
    throw UsageError("the experiment ebm runs one seed (--seed) with the paper's step sizes");
  }
  const std::vector<EbmCell> cells =
      chosen_cells(options.only.empty() && options.quick ? std::vector<std::string>{"static_mnist"}
                                                         : options.only);
  bool interrupted = false;
  double told = -1;
  const auto watch = [&](const std::string& doing) {
    try {
      if (context.seconds() - told > 0.1) context.progress(doing), told = context.seconds();
    } catch (const Interrupted&) {
      interrupted = true;  // after everything is saved
    }
    return !interrupted && (options.time <= 0 || context.seconds() < options.time);
  };
  const EbmWork work{protocol_of(options), options.seed, options.threads,
                     options.partial,      120,          watch};
  const EbmMakers makers = makers_of(context, work.protocol);
  bool finished = true;
  for (const EbmCell& cell : cells) {
    finished = finished && watch("reading " + cell.dataset) && work_on(cell, work, makers);
    if (interrupted) throw Interrupted();
  }
  std::vector<EbmRecord> records;
  for (const EbmCell& cell : cells) records.push_back(read_record(cell, options.partial));
  return ebm_results(records, work.protocol, options.quick, finished);
}

}  // namespace saltus::reproduce
