// Trainable: a target whose parameters can be learned from data.
#pragma once

#include <filesystem>
#include <span>

#include "saltus/learn/workers.hpp"
#include "saltus/target/target.hpp"

namespace saltus {

class Trainable {
 public:
  virtual ~Trainable() = default;

  // The target at the current parameters; the same object throughout.
  virtual const Target& target() const = 0;

  // All parameters, one after the other. Who changes them calls `parameters_changed`, which puts
  // them into force in the target.
  virtual std::span<float> parameters() = 0;
  virtual void parameters_changed() = 0;
  // So many of the first parameters are weights, which an l1 penalty concerns. The others are
  // biases.
  virtual std::size_t weights() const = 0;

  // gradient = (mean over the data of d logp / d parameters) - (the same over the model's samples):
  // up the gradient of the log-likelihood, as far as the samples are the model's. Returns the
  // difference of the mean logp of the two.
  virtual double contrast(Rows<const Symbol> data, Rows<const Symbol> samples,
                          std::span<float> gradient, const Workers& workers) = 0;

  // Writes a model file that load_model reads; docs/formats.md describes it. Throws FileError.
  virtual void write(const std::filesystem::path& path) const = 0;
};

}  // namespace saltus
