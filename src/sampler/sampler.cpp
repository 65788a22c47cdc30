#include "saltus/sampler/sampler.hpp"

#include <stdexcept>

namespace saltus {

std::unique_ptr<Sampler> Sampler::tuned(double, Phase) const {
  throw std::logic_error(name() + " has nothing to tune");
}

}  // namespace saltus
