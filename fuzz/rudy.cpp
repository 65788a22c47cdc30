// Any bytes as a graph of rudy: refused with a DataError, or a model that can be evaluated, whose
// cut is the sum of the weights between the two sides.
#include "io/models/rudy.hpp"

#include <cmath>
#include <cstdlib>
#include <string>
#include <variant>

#include "saltus/core/error.hpp"
#include "saltus/model/models.hpp"

namespace {

void check(const saltus::IsingModel& graph, const saltus::Objective& cut) {
  const saltus::RowBuffer<saltus::Symbol> x(1, graph.n);
  for (int i = 0; i < graph.n; ++i) x.view()[0][i] = i % 3 == 0;
  double expected = 0, size = 1;
  for (const saltus::Coupling& c : graph.couplings) {
    if (c.i < 0 || c.j < 0 || c.i >= graph.n || c.j >= graph.n || c.i == c.j) std::abort();
    if (x.view()[0][c.i] != x.view()[0][c.j]) expected -= 2 * c.weight;
    size += std::abs(c.weight);
  }
  if (size > 1e30) return;
  const double logp = saltus::logp_of(*saltus::make_target(graph), x.view()[0]);
  if (std::abs(logp + cut.constant - expected) > 1e-4 * size) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const bool fits = saltus::looks_like_rudy(text);
  try {
    const saltus::Model model = saltus::read_rudy(text, "fuzz.mc");
    if (!fits || !model.objective) std::abort();
    const auto& graph = std::get<saltus::IsingModel>(model.value);
    if (graph.n <= 4096) check(graph, *model.objective);
  } catch (const saltus::DataError&) {
  }
  return 0;
}
