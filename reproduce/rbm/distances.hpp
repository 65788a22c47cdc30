// The distances between chains and samples of a restricted Boltzmann machine: rows that the paper's
// statements are judged by, over chains and over trainings, with plots and pictures.
#pragma once

#include "reproduce/rbm/race.hpp"

namespace saltus::reproduce {

inline constexpr std::uint64_t kPaperSteps = 5000;
inline constexpr const char* kDmala = "DMALA 0.2";
inline constexpr const char* kDula = "DULA 0.1";

// What the code that the paper's authors published gives on the RBM of the set rbm_reference.
struct AuthorsCode {
  double log_mmd = -5.51, sd = 0.45;  // DMALA 0.2 at step 5000, over chain seeds
  int runs = 8;
  double acceptance = 0.507;  // over 5000 steps
};

// The paper's numbers are for its training and its number of steps.
inline bool comparable(const Race& race) {
  return race.machine->whole && race.steps == kPaperSteps;
}

// Of one machine; judged over chains, unless it is one of several trainings.
void add_distances(Context& context, const Race& race, Results& results);
// Of several trainings; judged over these.
void add_trainings(const std::vector<const Race*>& races, Results& results);

// Up to 100 rows as images, where pictures can be written.
void add_picture(const std::string& file, const std::string& label, Rows<const Symbol> rows,
                 Section& section);

}  // namespace saltus::reproduce
