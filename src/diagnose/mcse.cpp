#include "saltus/diagnose/mcse.hpp"

#include <cmath>

#include "diagnose/columns/sequences.hpp"
#include "saltus/diagnose/ess.hpp"

namespace saltus {
namespace {

// Of all draws together: the deviations from the chain means, and those of the chain means.
double pooled_sd(const Chains& chains) {
  const double n = static_cast<double>(chains.draws);
  SequenceMoments moments = moments_of(whole_chains(chains));
  centre(moments.means);
  const double squares = moments.squares + n * sum_of_squares(moments.means);
  return std::sqrt(squares / (n * chains.chains - 1));
}

}  // namespace

double mcse_mean(const Chains& chains) {
  const double ess = ess_mean(chains);
  return std::isnan(ess) ? ess : pooled_sd(chains) / std::sqrt(ess);
}

}  // namespace saltus
