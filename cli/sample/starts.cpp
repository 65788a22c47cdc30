#include "cli/sample/starts.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "saltus/core/error.hpp"
#include "saltus/io/draw_files.hpp"

namespace saltus::cli {
namespace {

// All coordinates of all chains at their lowest level, or at the one above it.
RowBuffer<Symbol> same_start(const std::string& name, int chains, const Domain& domain) {
  RowBuffer<Symbol> states(chains, domain.dim());
  for (int c = 0; c < chains; ++c) {
    std::fill_n(states.view()[c], domain.dim(), static_cast<Symbol>(name == "ones"));
  }
  return states;
}

// Rows of all coordinates, which agree with what is given.
RowBuffer<Symbol> states_of_file(const std::string& path, const SampleRequest& r) {
  if (!r.whole) return read_start_file(path, r.plan.chains, r.target->domain());
  const GivenValues& given = r.whole->given;
  const RowBuffer<Symbol> all = read_start_file(path, r.plan.chains, given.domain());
  RowBuffer<Symbol> states(r.plan.chains, r.target->domain().dim());
  for (int c = 0; c < r.plan.chains; ++c) {
    for (const auto& [i, level] : given.list()) {
      if (all.view()[c][i] == level) continue;
      throw DataError(
          fmt::format("{}: the state of chain {} has level {} at coordinate {}, which "
                      "is given as {}",
                      path, c, all.view()[c][i], i, level));
    }
    given.gather(all.view()[c], states.view()[c]);
  }
  return states;
}

}  // namespace

bool starts_itself(const std::string& init) {
  return init == "dispersed" || init == "random";
}

bool is_start_name(const std::string& init) {
  return starts_itself(init) || init == "zeros" || init == "ones";
}

RowBuffer<Symbol> starting_states(const std::string& init, const SampleRequest& r) {
  return is_start_name(init) ? same_start(init, r.plan.chains, r.target->domain())
                             : states_of_file(init, r);
}

}  // namespace saltus::cli
