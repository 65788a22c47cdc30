// Learning the couplings of an Ising lattice from samples of it.
//
// The truth is log p(s) = s'Js with J = 0.25 A, A the adjacency matrix of a torus. A dense G, of
// which nothing is known, learns by persistent contrastive divergence; J is (G + G')/2, and its
// error the root of the mean over all entries of (J - truth)^2, natural log.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "reproduce/experiment.hpp"
#include "reproduce/kept_cells.hpp"
#include "saltus/core/rows.hpp"

namespace saltus::reproduce::ising_learning {

inline constexpr double kCoupling = 0.25, kPenalty = 0.01, kRate = 1e-3, kDeviation = 0.01;
inline constexpr std::uint64_t kSweeps = 1600;  // of the data: 1,000,000 updates of 625 sites

// How large everything is.
struct Scale {
  int side, samples, batch, chains;
  std::uint64_t steps;             // of the sampler in an iteration
  std::uint64_t iterations;        // of all runs, but
  std::uint64_t gibbs_iterations;  // of Gibbs-1 with `steps`, whose iterations cost less
  std::uint64_t every;             // iterations between two points of a curve
  std::vector<std::uint64_t> numbers_of_steps;
};

Scale full_scale();
Scale quick_scale();

// Samples of the truth: each a chain of its own, from fair coins, by single-site Gibbs updates in
// the order of the sites.
RowBuffer<Symbol> draw_data(Context& context, const Scale& scale, std::uint64_t seed);

// Mean over samples and edges of the product of two neighbours.
double mean_product(const Scale& scale, Rows<const Symbol> data);

// How far couplings G are from the truth.
struct Distance {
  double log_rmse = 0;
  double on_edges = 0;   // mean coupling of neighbours
  double elsewhere = 0;  // root mean square of all others
};

class Truth {
 public:
  explicit Truth(const Scale& scale);
  // TrainableIsing keeps G symmetric: it is J.
  Distance to(std::span<const float> g) const;
  double log_rmse_of_zero() const { return to(std::vector<float>(couplings_.size())).log_rmse; }

 private:
  std::vector<double> couplings_;
};

// One run of learning.
struct Curve {
  std::vector<double> iterations, seconds, log_rmse;  // the start first; seconds of one core
  double acceptance = 0, proposed = 0;                // means over all steps
  Distance last;
  std::string failure;  // why it ended early, if it did
  double product = 0;   // of neighbours, the mean over the data that it learned from

  static std::string file_of(const Json& key);  // that keeps it
  static constexpr const char* kNames =
      "iterations seconds log_rmse acceptance proposed last on_edges elsewhere failure product";
  auto kept() {
    return std::tie(iterations, seconds, log_rmse, acceptance, proposed, last.log_rmse,
                    last.on_edges, last.elsewhere, failure, product);
  }
  bool sound() const {
    return !iterations.empty() && seconds.size() == iterations.size() &&
           log_rmse.size() == iterations.size();
  }

  // True when the error grew again, by more than it wavers.
  bool turned() const { return log_rmse.back() > log_rmse[least()] + 0.05; }
  std::string turn_text() const;
  // When it first was at a value, in `unit`; NaN: never.
  double first_at(double value, const std::vector<double>& unit) const;
  // After `iteration`, or at the end where that came first.
  double error_at(double iteration) const;
  // The least error up to a moment.
  double best_until(double moment, const std::vector<double>& unit) const;

 private:
  std::size_t least() const;
};

// What every run on the same data shares.
struct Lesson {
  const Scale& scale;
  const Truth& truth;
  Rows<const Symbol> data;
  std::uint64_t seed;
};

// A run on the calling thread.
Curve learn(Context& context, const Lesson& lesson, const Entrant& entrant, std::uint64_t steps,
            std::uint64_t iterations);

// What a run is named by: it is the same computation when this is the same.
Json key_of(const Scale& scale, const Entrant& entrant, std::uint64_t steps,
            std::uint64_t iterations, std::uint64_t seed);

using Shelf = KeptCells<Curve>;

}  // namespace saltus::reproduce::ising_learning
