// Models with several modes whose exact answers are known.
#pragma once

#include <memory>
#include <string>

#include "saltus/io/model_file.hpp"

namespace saltus {

// Eight spins, all pairs coupled: two modes.
inline std::shared_ptr<const Target> ferro8() {
  std::string couplings;
  for (int i = 0; i < 8; ++i) {
    for (int j = i + 1; j < 8; ++j) {
      couplings +=
          (couplings.empty() ? "[" : ",[") + std::to_string(i) + "," + std::to_string(j) + ",0.5]";
    }
  }
  return shared_target(parse_model(R"({"model":"ising","n":8,"couplings":[)" + couplings +
                                       R"(],"fields":[0.05,0.05,0.05,0.05,0.05,0.05,0.05,0.05]})",
                                   "ferro8"));
}

// Ten spins with couplings of both signs.
inline const char* const kGlass10 =
    R"({"model":"ising","n":10,"couplings":[[0,1,1.33],[0,2,0.72],[0,3,-1.55],[0,4,-0.01],[0,5,)"
    R"(0.62],[0,6,-0.72],[0,7,0.27],[0,8,0.11],[1,2,-0.17],[1,3,0.43],[1,4,1.2],[1,5,-0.97],[1,)"
    R"(6,1.03],[1,7,0.23],[1,8,0.45],[1,9,-1.14],[2,3,0.14],[2,4,1.48],[2,5,-1.08],[2,6,-1.98],)"
    R"([2,7,-1.74],[2,8,0.27],[2,9,2.38],[3,4,1.12],[3,5,1.67],[3,6,0.1],[3,7,1.4],[3,8,-0.27],)"
    R"([3,9,0.61],[4,5,-0.27],[4,6,-0.55],[4,7,0.13],[4,8,-0.48],[4,9,1.31],[5,6,0.2],[5,7,)"
    R"(0.4],[5,8,-0.34],[5,9,1.26],[6,7,-0.73],[6,8,0.66],[6,9,-0.35],[7,8,-0.94],[7,9,-0.49],)"
    R"([8,9,-0.8]],"fields":[-0.04,-0.07,0.06,0.11,-0.03,-0.01,0.06,-0.11,0.14,0.17]})";
inline std::shared_ptr<const Target> glass10() {
  return shared_target(parse_model(kGlass10, "glass10"));
}

// A ring of five coordinates with three levels.
inline const char* const kPotts5 =
    R"({"model":"potts","levels":[3,3,3,3,3],"unary":[[0.0,0.1,0.2],[0.3,0.0,0.0],[0.0,0.0,)"
    R"(0.0],[0.0,0.2,0.0],[0.1,0.0,0.1]],"pairwise":[{"between":[0,1],"table":[[2.0,0.0,0.0],)"
    R"([0.0,2.0,0.0],[0.0,0.0,2.0]]},{"between":[1,2],"table":[[2.0,0.0,0.0],[0.0,2.0,0.0],)"
    R"([0.0,0.0,2.0]]},{"between":[2,3],"table":[[2.0,0.0,0.0],[0.0,2.0,0.0],[0.0,0.0,2.0]]},)"
    R"({"between":[3,4],"table":[[2.0,0.0,0.0],[0.0,2.0,0.0],[0.0,0.0,2.0]]},{"between":[0,4],)"
    R"("table":[[2.0,0.0,0.0],[0.0,2.0,0.0],[0.0,0.0,2.0]]}]})";
inline std::shared_ptr<const Target> potts5() {
  return shared_target(parse_model(kPotts5, "potts5"));
}

inline std::shared_ptr<const Target> rbm3() {
  return shared_target(parse_model(
      R"({"model":"rbm","weights":[[0.8,-1.2,0.5],[-0.4,0.9,1.5]],"visible_bias":[-0.2,0.4,-0.6],)"
      R"("hidden_bias":[0.1,-0.3]})",
      "rbm3"));
}

}  // namespace saltus
