// What is known of the cells from elsewhere: Tables 2 and 4 of the paper, and runs of the code that
// its authors published.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace saltus::reproduce::bnn {

struct Published {
  double log_likelihood, test_rmse;
  // Of runs of the authors' samplers on the files that the data loaders read, where there are some.
  std::vector<double> authors_log_likelihood = {}, authors_test_rmse = {};
};

// `entrant` is its label.
std::optional<Published> published(const std::string& set, const std::string& entrant);

}  // namespace saltus::reproduce::bnn
