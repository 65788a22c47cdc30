// A sampler made in C++ for a target that lacks what it needs is refused by the run.
#include <gtest/gtest.h>

#include "saltus/core/error.hpp"
#include "saltus/run/run.hpp"
#include "saltus/sampler/block_gibbs.hpp"
#include "saltus/sampler/dsvgd.hpp"
#include "saltus/sampler/rmala.hpp"
#include "saltus/target/ising_lattice.hpp"
#include "saltus/target/potts.hpp"

namespace saltus {
namespace {

std::string refusal(const Target& target, std::unique_ptr<Sampler> sampler) {
  try {
    const saltus::Run run(target, std::move(sampler), {});
  } catch (const UsageError& e) {
    return e.what();
  }
  return "";
}

TEST(MissingAbility, IsNamed) {
  const Potts potts(Domain::categorical(2, 3), std::vector<double>(6), {});
  const IsingLattice lattice(3, 3, true, 0.1, 0.2);
  EXPECT_NE(refusal(potts, std::make_unique<Rmala>(RmalaOptions{})).find("two levels"),
            std::string::npos);
  EXPECT_NE(refusal(potts, std::make_unique<Dsvgd>(DsvgdOptions{})).find("two levels"),
            std::string::npos);
  EXPECT_NE(refusal(lattice, std::make_unique<BlockGibbs>()).find("hidden units"),
            std::string::npos);
  EXPECT_EQ(refusal(lattice, std::make_unique<Rmala>(RmalaOptions{})), "");
}

}  // namespace
}  // namespace saltus
