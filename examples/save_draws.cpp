// Draws from a model file's contents, prints a summary, saves the draws and reads them back: the
// whole of `saltus sample MODEL --out FILE` in a program of your own.
#include <cstdio>
#include <filesystem>

#include "saltus/io/draw_files.hpp"
#include "saltus/io/model_file.hpp"
#include "saltus/sample.hpp"

using namespace saltus;

// Six spins in a ring; one bond has the wrong sign, and a field acts on the first spin.
constexpr const char* kRing = R"({"model": "ising", "n": 6,
  "couplings": [[0, 1, 0.8], [1, 2, 0.8], [2, 3, 0.8], [3, 4, 0.8], [4, 5, 0.8], [5, 0, -0.8]],
  "fields": [0.3, 0, 0, 0, 0, 0]})";

int main() {
  const std::filesystem::path file = "ring-draws.npz";
  SampleRequest request(parse_model(kRing, "the ring"));  // or load_model("ring.json")
  request.plan.draws = 5000;
  request.plan.seed = 1;
  const SampleResult result = sample(request);

  std::printf("%-5s %9s %8s %8s %7s\n", "", "mean", "MCSE", "ESS", "R-hat");
  for (std::size_t i = 0; i < result.summaries.size(); ++i) {
    const CoordinateSummary& s = result.summaries[i];
    std::printf("x[%zu]  %9.4f %8.4f %8.0f %7.4f\n", i, s.mean, s.mcse, s.ess_bulk, s.rhat);
  }
  for (const Warning& w : result.warnings) std::printf("Warning: %s\n", w.sentence.c_str());

  write_draws(file, *result.draws);
  const auto saved = open_draws(file);
  std::printf("%s: %d chains of %zu draws\n", file.string().c_str(), saved->chains(),
              saved->draws());
  const bool whole = saved->chains() == request.plan.chains && saved->draws() == 5000;
  std::filesystem::remove(file);
  return whole ? 0 : 1;
}
