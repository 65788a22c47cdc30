// Annealed importance sampling, forward and reverse, that can stop between rounds, be saved, and go
// on elsewhere: the engine of ais.hpp, for models whose estimate takes hours.
#pragma once

#include <memory>

#include "saltus/anneal/ais.hpp"
#include "saltus/run/run.hpp"

namespace saltus {

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
