// The restricted Boltzmann machines of the comparison, each with the states that samplers start
// from and are compared with.
#pragma once

#include <memory>
#include <optional>

#include "reproduce/experiment.hpp"
#include "saltus/core/rows.hpp"
#include "saltus/diagnose/mmd.hpp"
#include "saltus/target/rbm.hpp"

namespace saltus::reproduce {

struct Machine {
  static constexpr int kReference = 500, kSecond = 100, kStart = 100;

  std::string name;   // "trained", "reference"
  bool whole = true;  // made with all of the paper's effort
  std::unique_ptr<const Rbm> target;
  std::vector<double> mean;   // of the independent bits that chains start from
  RowBuffer<Symbol> samples;  // of long block-Gibbs chains: kReference rows, then kSecond
  RowBuffer<Symbol> start;    // the same for every seed; empty: drawn anew
  double training_seconds = 0, sampling_seconds = 0;  // of the clock; 0 where it was read

  Rows<const Symbol> reference() const;  // Y, which chains are compared with
  Rows<const Symbol> second() const;     // what is left: a perfect sampler's states
  // kStart rows, the same for all samplers.
  RowBuffer<Symbol> start_states(std::uint64_t seed) const;
};

// What goes into a machine; these are the paper's numbers.
struct Effort {
  std::uint64_t iterations = 600;  // batches of 100: one epoch
  std::uint64_t sweeps = 10'000;   // of the chains whose states are the samples
  bool operator==(const Effort&) const = default;
};

// 784 visible and 500 hidden units, trained by CD-10.
Machine trained_machine(Context& context, Rows<const Symbol> data, const Effort& effort);
// That of the data set rbm_reference; none when its files are not there.
std::optional<Machine> published_machine(const std::filesystem::path& data);

// What the V-statistic is for perfect samples.
struct Floor {
  double second_set;  // ln MMD^2 of the second set against Y
  double formula;     // ln of (1/100 + 1/500) (1 - E k)
  double mean, sd;    // of ln MMD^2 over random splits of the samples into 500 and 100
};
Floor floor_of(const Machine& machine, const MmdReference& reference, std::uint64_t seed);

}  // namespace saltus::reproduce
