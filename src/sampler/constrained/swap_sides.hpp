// The sites of a state by their levels, from which paths of swaps draw: each by its weight among
// those that are left.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "saltus/core/rows.hpp"
#include "saltus/core/scratch.hpp"

namespace saltus {

// The level that sites are drawn from; none: from both.
using Side = std::optional<Symbol>;

class Sides {
 public:
  virtual ~Sides() = default;
  // The sites that follow are of this side. Each side is begun once.
  virtual void begin(Side side) = 0;
  // A site, which leaves; adds the log of its probability.
  virtual std::int32_t draw(double u, double& log_q) = 0;
  // The same for a site that is known.
  virtual void take(std::int32_t site, double& log_q) = 0;
};

// A list of the sites of one side at a time, gone through for each of them. Takes the slots 1 and 2
// of the memory.
class ListedSides final : public Sides {
 public:
  ListedSides(const Symbol* x, std::span<const double> log_weights, Scratch& room);
  void begin(Side side) override;
  std::int32_t draw(double u, double& log_q) override;
  void take(std::int32_t site, double& log_q) override;

 private:
  void weigh();
  double log_weight(std::size_t place) const {
    return log_weights_[static_cast<std::size_t>(sites_[place])];
  }
  double sum() const;
  double total();
  std::int32_t remove(std::size_t place, double sum, double& log_q);

  const Symbol* x_;
  std::span<const double> log_weights_;
  std::int32_t* sites_;
  double* weights_;
  std::size_t left_ = 0;
  double top_ = 0;
};

}  // namespace saltus
