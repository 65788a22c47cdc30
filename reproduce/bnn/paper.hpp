// What is known of the cells from elsewhere: Tables 2 and 4 of the paper, and runs of the code that
// its authors published.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace saltus::reproduce::bnn {

struct Published {
  double log_likelihood, test_rmse;
};

// Runs of the authors' samplers on the files that the data loaders read; empty: there are none.
struct AuthorsRuns {
  std::vector<double> log_likelihood, test_rmse;
};

// `entrant` is its label.
std::optional<Published> published(const std::string& set, const std::string& entrant);
AuthorsRuns authors_runs(const std::string& set, const std::string& entrant);

}  // namespace saltus::reproduce::bnn
