#include "saltus/sampler/sequence.hpp"

namespace saltus {

std::string Sequence::name() const {
  std::string text;
  for (const auto& part : parts()) text += (text.empty() ? "" : "+") + part->name();
  return text;
}

void Sequence::step(const Target& target, Tile& tile, Workspace& work,
                    std::span<StepInfo> info) const {
  step_part(tile.step % size(), tile.step / size(), target, tile, work, info);
}

int Sequence::phases(const Domain& domain) const {
  return static_cast<int>(size()) * phases_of_parts(domain);
}

void Sequence::transition_matrix(const StateTable& table, const When& when, Rows<double> matrix,
                                 std::span<double> acceptance) const {
  matrix_of_part(when.step % size(), table, {when.seed, when.step / size()}, matrix, acceptance);
}

}  // namespace saltus
