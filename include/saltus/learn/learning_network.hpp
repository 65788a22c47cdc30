// A network energy that learns by steps of Adam on its own device, with an exponential moving
// average of its parameters.
#pragma once

#include <vector>

#include "saltus/core/bytes.hpp"
#include "saltus/target/target.hpp"

namespace saltus {

class LearningNetwork {
 public:
  virtual ~LearningNetwork() = default;

  // The targets at the current parameters and at their average; the same objects throughout. After
  // `update` and `restore`, values computed before are out of date.
  virtual const Target& target() const = 0;
  virtual const Target& averaged() const = 0;

  // One step of Adam down the gradient of
  //   loss = mean over samples of log p - mean over data of log p
  //          + c (mean over samples of f^2 + mean over data of f^2),
  // then average <- decay average + (1 - decay) parameters. Throws DataError when a log p is not
  // finite. f is the network's part of log p; c > 0 keeps it from growing without bounds, as chains
  // that hardly move let it (Du & Mordatch, "Implicit generation and modeling with energy-based
  // models", NeurIPS 2019, section 3.3).
  struct Means {
    double data = 0, samples = 0;  // of log p
  };
  virtual Means update(Rows<const Symbol> data, Rows<const Symbol> samples, double rate) = 0;

  virtual std::vector<float> parameters() const = 0;
  virtual std::vector<float> averaged_parameters() const = 0;

  // Parameters, their average, and what Adam remembers.
  virtual void save(ByteWriter& out) const = 0;
  virtual void restore(ByteReader& in) = 0;
};

}  // namespace saltus
