// Sampling from the 5 x 5 Ising model (Figures 2 and 3, and the figure on varying connectivity).
#include "reproduce/ising/runs.hpp"

namespace saltus::reproduce {

Results run_ising(Context& context) {
  Results results;
  ising::add_boldness(context, results);
  ising::add_race(context, results);
  ising::add_floor(context, results);
  ising::add_connectivity(context, results);
  return results;
}

}  // namespace saltus::reproduce
