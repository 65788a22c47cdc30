// One cell of the tables on binary networks: a data set, a sampler and a seed. How well the chains'
// networks fit the data they are sampled from, and how well their mean predicts others; and what is
// known of it from elsewhere: Tables 2 and 4 of the paper, and runs of the code that its authors
// published.
#pragma once

#include "reproduce/data/regression_sets.hpp"
#include "reproduce/experiment.hpp"
#include "reproduce/kept_cells.hpp"

namespace saltus::reproduce::bnn {

// How large everything is.
struct Scale {
  int chains, hidden;
  std::uint64_t steps, every;  // between two points of a curve; the first one is after one step
};
// The paper's network for a set; --quick has a smaller one.
Scale scale_of(const std::string& set, bool quick);

constexpr double kPaperAlpha = 0.1;
// Gibbs, GWG, DULA and DMALA, and DULA with mini-batches.
std::vector<Entrant> entrants(const std::vector<double>& alphas);

struct Course {
  // After 1, 1 + every, ... steps: the mean over chains of -(1/N) sum (f - y)^2 on the rows that
  // are sampled from, and the root mean squared error of the mean of f over chains on the others.
  std::vector<double> log_likelihood, test_rmse;
  double acceptance = 0;                         // mean probability over all chains and steps
  double last_acceptance = 0, last_changed = 0;  // coordinates; both over the last tenth of steps
  double seconds = 0;                            // of the clock, for the sampler alone

  static std::string file_of(const Json& key);  // that keeps it
  static constexpr const char* kNames =
      "log_likelihood test_rmse acceptance last_acceptance last_changed seconds";
  auto kept() {
    return std::tie(log_likelihood, test_rmse, acceptance, last_acceptance, last_changed, seconds);
  }
  bool sound() const { return log_likelihood.size() == test_rmse.size(); }
};

// What a cell is named by: it is the same computation when this is the same.
Json key_of(const RegressionSet& set, const Entrant& entrant, const Scale& scale, Device device,
            std::uint64_t seed);

Course run_cell(Context& context, const RegressionSet& set, const Entrant& entrant,
                const Scale& scale, std::uint64_t seed);

using Shelf = KeptCells<Course>;

// A number of Tables 2 and 4, of four digits, and the deviation after it.
struct PublishedNumber {
  double value, deviation;
  Printed printed() const { return {value, deviation, 1e-4}; }
};

struct Published {
  PublishedNumber log_likelihood, test_rmse;
  // Of runs of the authors' samplers on the files that the data loaders read, where there are some.
  std::vector<double> authors_log_likelihood = {}, authors_test_rmse = {};
};

// `entrant` is its label.
std::optional<Published> published(const std::string& set, const std::string& entrant);

}  // namespace saltus::reproduce::bnn
