// saltus certify: a bound of the distance to the model, from coupled chains.
#include "saltus/certify.hpp"

#include <fmt/core.h>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "saltus/core/error.hpp"
#include "service/result_json.hpp"

namespace saltus::cli {
namespace {

struct CertifyOptions {
  ModelRequest model;
  std::string lag = "auto", seed = "1";
  std::vector<std::string> set;
  bool json = false;
  CertifyRequest request;
  std::shared_ptr<const WholeModel> whole;  // where values are given
  const Target& target() const { return whole ? *whole->target : *request.target; }
  Labels labels;  // of the model
};

std::optional<std::uint64_t> lag_of(const std::string& text, std::uint64_t most) {
  if (text == "auto") return std::nullopt;
  const bool digits = !text.empty() && text.size() <= 15 &&
                      text.find_first_not_of("0123456789") == std::string::npos;
  const std::uint64_t lag = digits ? std::stoull(text) : 0;
  if (lag >= 1 && lag <= most) return lag;
  throw UsageError("--lag is '" + text + "'; it must be auto, or a number of steps from 1 to " +
                   "--max-steps, " + std::to_string(most));
}

std::string unmet_text(const CertifyResult& r) {
  return fmt::format("{} of {} pairs had not met after {} steps", count(r.unmet), count(r.pairs),
                     with_commas(r.max_steps));
}

std::string name_of(const UnbiasedMean& m, const Target& target, const Labels& labels) {
  return m.coordinate < 0 ? "log p" : coordinate_label(m.coordinate, target.shape(), labels);
}

void print_times(const CertifyResult& r) {
  if (r.times.empty()) return;
  show("Steps until a pair met{}:\n", r.unmet ? ", of those that did" : "");
  for (const double share : kMeetingShares) {
    show("  {:>5} of the pairs within {:>10}\n", fmt::format("{:g} %", 100 * share),
         with_commas(r.quantile(share)));
  }
}

void print_curve(const CertifyResult& r) {
  const bool exact = r.curve.front().exact.has_value();
  show("\n{:>10} {:>10} {:>11}{}\n", "after step", "bound", "std. error",
       exact ? "   exact distance" : "");
  for (const BoundAt& at : r.curve) {
    show("{:>10} {:>10.4f} {:>11.4f}", with_commas(at.step), at.value.bound,
         at.value.standard_error);
    if (at.exact) show(" {:>16.4f}", *at.exact);
    show("\n");
  }
  show("\n");
  if (r.below_quarter)
    show("The bound is below 0.25 from step {} on.\n", with_commas(*r.below_quarter));
  if (r.below_hundredth) {
    show("It is below 0.01 from step {} on: the recommended warm-up.\n",
         with_commas(*r.below_hundredth));
  } else {
    show("To tell a bound below 0.01 needs 300 pairs or more.\n");
  }
}

void print_means(const CertifyResult& r, const Target& target, const Labels& labels) {
  if (r.means.empty()) return;
  show("\nMeans without the bias of the start, from steps {} to {} of every pair:\n",
       with_commas(r.window->first), with_commas(r.window->last));
  show("{:<12} {:>12} {:>11}{}\n", "", "mean", "std. error",
       r.means.front().exact ? "        exact" : "");
  for (const UnbiasedMean& m : r.means) {
    show("{:<12} {:>12.5f} {:>11.5f}", name_of(m, target, labels), m.mean, m.standard_error);
    if (m.exact) show(" {:>12.5f}", *m.exact);
    show("\n");
  }
}

void print_certificate(const CertifyOptions& o, const CertifyResult& r) {
  const Target& target = o.target();
  show("{}, {}: {} with {}{}\n{} pairs of chains from uniform starts, lag {}, seed {}\n\n",
       target.name(), shape_text(target.shape()), r.sampler,
       parameters_text(r.parameters, {"adapt"}), r.tuned ? " (tuned in a warm-up)" : "",
       count(r.pairs), with_commas(r.lag), o.request.seed);
  if (r.unmet > 0) {
    show("{}: there is no bound.\nPairs that do not meet often sit in different modes.\n\n",
         unmet_text(r));
    print_times(r);
  } else {
    print_times(r);
    print_curve(r);
    print_means(r, target, o.labels);
  }
  show("\n{}\n", duration(r.seconds));
}

int certify_model(CertifyOptions o) {
  CertifyRequest& request = o.request;
  request.seed = parse_seed(o.seed);
  request.lag = lag_of(o.lag, request.max_steps);
  request.settings = parse_settings(o.set);
  Model model = load_model(o.model);
  o.whole = model.whole;
  o.labels = labels_of(model.value);
  request.target = shared_target(std::move(model));
  const auto run = [&] {
    Progress progress(Progress::Elsewhere::nothing);
    return certify(request, [&](const CertifyStatus& s) {
      return progress.show(
          fmt::format("{}: {} of {} pairs", s.pilot ? "pilot" : "coupling", s.done, s.pairs));
    });
  };
  CertifyResult result = run();
  for (UnbiasedMean& m : result.means) {
    if (o.whole && m.coordinate >= 0) {
      m.coordinate = o.whole->given.free()[static_cast<std::size_t>(m.coordinate)];
    }
  }
  if (!result.complete) {
    say("Stopped before all pairs were run: there is no bound.\n");
    return signal_seen() ? 128 + signal_seen() : ok;
  }
  o.json ? show_json(
               certificate_json(request, result, o.whole.get(),
                                [&](const UnbiasedMean& m) { return name_of(m, o.target(), {}); }))
         : print_certificate(o, result);
  return ok;
}

}  // namespace

void add_certify(CLI::App& program, int& status) {
  CLI::App* command = program.add_subcommand(
      "certify", "Bound how far a chain is from the model after so many steps, by coupled chains");
  auto o = std::make_shared<CertifyOptions>();
  CertifyRequest& request = o->request;
  add_model_options(*command, o->model);
  add_default(*command, "--sampler", request.sampler, "Sampler: dmala, gibbs, gwg or pas");
  add_settings(*command, o->set);
  add_default(*command, "--pairs", request.pairs, "Pairs of chains", whole_number(2, 10'000'000));
  add_typed(*command, "--lag", o->lag,
            "Steps that one chain of a pair is ahead; auto: the 90 % quantile of the meeting times "
            "of pilot pairs",
            "auto|N")
      ->capture_default_str();
  add_default(*command, "--max-steps", request.max_steps,
              "Steps after which a pair counts as unmet", whole_number(1, 1'000'000'000));
  add_default(*command, "--warmup", request.warmup, "Steps that tune a sampler without a step size",
              steps_from(1));
  add_seed(*command, o->seed);
  add_threads(*command, request.threads, "a result");
  command->add_flag("--json", o->json, "Print the results as JSON, and nothing else");
  command->callback([o, &status] { status = certify_model(*o); });
}

}  // namespace saltus::cli
