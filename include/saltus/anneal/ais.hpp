// Annealed importance sampling: Neal, "Annealed importance sampling", Statistics and Computing 11,
// 2001. Chains go from a normalised law p_0 that can be drawn from to the model p, through
// p_beta = p^beta p_0^(1-beta) at 0 = beta_0 < ... < beta_n = 1. At each step
//
//   log w += (beta_k - beta_{k-1}) (log p - log p_0)(x),
//
// then transitions that leave p_beta_k invariant. E[w] = Z exactly, so log of the mean weight tends
// to be too low. The other way round, from draws of the model to p_0, E[w] = 1 / Z, and the
// estimate tends to be too high: Grosse, Ghahramani & Adams, "Sandwiching the marginal likelihood
// using bidirectional Monte Carlo", 2015. The truth lies between the two.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "saltus/anneal/annealing.hpp"
#include "saltus/run/run.hpp"

namespace saltus {

struct AisPlan {
  AnnealingPlan annealing;
  bool reverse = true;
  // Steps of as many chains at beta = 1 before annealing, from draws of the base. Up to a half of
  // them, 1000 at most, tune a sampler that is to be tuned; all annealing uses what is found. Where
  // they end, the reverse chains start: draws of the model as far as these steps are enough.
  std::uint64_t warmup = 5000;
};

// log Z from the weights of one direction.
struct AisEstimate {
  double log_z = 0;
  double standard_error = 0;  // of log_z over chains, by the delta method
  double ess = 0;             // (sum w)^2 / sum w^2: as many chains carry the estimate
  double acceptance = 0;      // mean acceptance probability of the transitions
  std::vector<double> log_weights;
};

// Log Z is above this with a probability of at least 0.95, whatever the chains of the forward
// direction did: their mean weight, Z on average, is above 20 Z with a probability of at most 1/20
// (Markov's inequality).
double log_z_floor(double forward_log_z);

struct AisResult {
  AisEstimate forward;
  std::optional<AisEstimate> reverse;
  std::vector<Parameter> parameters;  // of the sampler, as tuned
  double seconds = 0;

  // Two standard errors below the forward estimate and above the reverse one, which is infinite
  // where there is none.
  double low() const;
  double high() const;
};

struct AisStatus {
  enum class Stage { warmup, forward, reverse } stage;
  double done = 0;  // part of the stage
};

// Throws UsageError for a sampler that cannot serve, for one that biases the estimate above all.
// Nothing is returned when `proceed`, asked now and then, returned false.
std::optional<AisResult> annealed_importance_sampling(
    const Tempered& path, std::unique_ptr<Sampler> sampler, const AisPlan& plan,
    const std::function<bool(const AisStatus&)>& proceed = {});

// From the logarithms of the weights of one direction; acceptance is left at 0.
AisEstimate forward_estimate(std::vector<double> log_weights);
AisEstimate reverse_estimate(std::vector<double> log_weights);

// Annealed importance sampling, forward and reverse, that can stop between rounds, be saved, and go
// on elsewhere, for models whose estimate takes hours.
class AisRun {
 public:
  // `start`: states from which the steps at beta = 1 begin, one for each chain, nearer to the model
  // than draws of the base, which are taken where there are none. Throws UsageError for a sampler
  // that cannot serve, for one that biases the estimate above all; DataError when states do not
  // fit.
  AisRun(const Tempered& path, std::unique_ptr<Sampler> sampler, const AisPlan& plan,
         Rows<const Symbol> start = {});

  // Goes on until all is done, or until `proceed`, asked now and then, returns false. True at the
  // end.
  bool go(const std::function<bool(const AisStatus&)>& proceed = {});
  bool done() const { return stage_ == kDone; }

  // Once all is done.
  AisResult result() const;
  double seconds() const { return seconds_; }  // so far

  // The plan and the path must be the same; the states at the start do not matter any more.
  void save(ByteWriter& out) const;
  void restore(ByteReader& in);

 private:
  enum Stage : std::uint32_t { kWarmup, kForward, kReverse, kDone };
  using Proceed = std::function<bool(const AisStatus&)>;

  bool warm_up(const Proceed& proceed);
  bool anneal(Annealing& annealing, AisStatus::Stage stage, const Proceed& proceed);
  void begin(Stage stage);
  AisEstimate estimate(const Annealing& annealing, bool forward) const;

  Tempered path_;
  AisPlan plan_;
  bool tuned_;     // the sampler is tuned at beta = 1
  bool warms_up_;  // that, or the reverse direction needs where to start
  saltus::Run run_;
  Stage stage_ = kWarmup;
  std::unique_ptr<Annealing> forward_, reverse_;
  double seconds_ = 0;
};

}  // namespace saltus
