// Draws of a run, wherever they are kept: read in blocks, so that a long run need not fit in
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "saltus/core/rows.hpp"

namespace saltus {

// What a reader of the draws must know to make sense of them.
struct DrawsInfo {
  std::string model, sampler;
  std::vector<int> shape;  // the model's own dimensions; their product is dim
  int levels = 2;          // largest level count of a coordinate
  double first_value = 0,
         spacing = 1;  // level k of a coordinate stands for first_value + spacing k
  // Of unordered levels (classes): how many each coordinate has, or one number for all of them.
  // Empty: the levels are ordered, or a file does not say.
  std::vector<int> classes;
  // Of a model on a lattice or another sparse graph: pairs of coordinates that are neighbours, one
  // pair after the other. Empty: there is no such graph, or a file does not say.
  std::vector<int> bonds;
  double step_size = 0;  // of the draws; 0 where the sampler has none
  bool exact = true;     // the sampler leaves the model invariant
  // Of a part of a run: the number of its first chain, and how many the run has; 0: this is all.
  std::int64_t first_chain = 0, chains_of_run = 0;
  std::map<std::string, std::string>
      attributes;  // seed, version, ...: copied into files that can hold them
};

class Draws {
 public:
  virtual ~Draws() = default;
  virtual const DrawsInfo& info() const = 0;
  virtual int chains() const = 0;
  virtual std::size_t draws() const = 0;  // per chain
  virtual int dim() const = 0;

  // Draws [first, first + x.rows) of one chain: x is x.rows by dim.
  virtual void read_states(int chain, std::size_t first, Rows<Symbol> x) const = 0;
  // Draws [first, first + out.size()) of one chain.
  virtual void read_logp(int chain, std::size_t first, std::span<double> out) const = 0;
  virtual void read_acceptance(int chain, std::size_t first, std::span<float> out) const = 0;
};

}  // namespace saltus
