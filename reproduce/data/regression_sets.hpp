// Published tables as rows to fit a network with weights -1 and +1 to: compas, news, adult, blog.
//
// They are prepared as in the experiments with binary Bayesian networks of Zhang, Liu & Liu, "A
// Langevin-like sampler for discrete distributions", ICML 2022: every column of all rows is brought
// to [0, 1]; the first 99 % of the rows to learn from are kept; then every column is standardised
// by the mean and the standard deviation (of a sample: n - 1) of the kept rows. A column that is
// constant on these becomes 0 there; elsewhere it is its difference from that constant.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "saltus/target/binary_network.hpp"

namespace saltus {

struct RegressionSet {
  std::string name;
  RegressionRows train, test;        // y in [0, 1]
  std::vector<std::string> columns;  // what the features are
  std::vector<std::string> notes;    // sentences that belong to every number computed from the set
};

const std::vector<std::string>& regression_set_names();

// The files are described by published_data(). Throws UsageError for a name that is not in
// regression_set_names(), FileError when a file is missing, and DataError, naming the file, the
// line and what was expected, when its content does not fit.
RegressionSet load_regression_set(const std::string& name, const std::filesystem::path& folder);

}  // namespace saltus
