#include "reproduce/ising/runs.hpp"

#include <cmath>
#include <vector>

namespace saltus::reproduce::ising {
namespace {

constexpr unsigned kSide = 5, kRows = 1U << kSide;  // a row of spins is a number below kRows

int spin(unsigned row, unsigned column) {
  return row >> (column % kSide) & 1U ? 1 : -1;
}

// A number for each row, given the rows above and below it.
class RowTable {
 public:
  template <class Of>
  explicit RowTable(Of of) : entries_(kRows * kRows * kRows) {
    for (unsigned above = 0; above < kRows; ++above) {
      for (unsigned row = 0; row < kRows; ++row) {
        for (unsigned below = 0; below < kRows; ++below) {
          entries_[index(above, row, below)] = of(above, row, below);
        }
      }
    }
  }
  double operator()(unsigned above, unsigned row, unsigned below) const {
    return entries_[index(above, row, below)];
  }

 private:
  static std::size_t index(unsigned above, unsigned row, unsigned below) {
    return (above * kRows + row) * kRows + below;
  }
  std::vector<double> entries_;
};

// The sum over all states of first(row 1) w(row 2) w(row 3) w(row 4) w(row 0), rows 0 and 1 given.
double sum_over(const RowTable& first, const RowTable& w, unsigned r0, unsigned r1) {
  double inner[kRows][kRows] = {};  // by rows 3 and 4, summed over row 2
  for (unsigned r2 = 0; r2 < kRows; ++r2) {
    for (unsigned r3 = 0; r3 < kRows; ++r3) {
      const double v = first(r0, r1, r2) * w(r1, r2, r3);
      for (unsigned r4 = 0; r4 < kRows; ++r4) inner[r3][r4] += v * w(r2, r3, r4);
    }
  }
  double sum = 0;
  for (unsigned r3 = 0; r3 < kRows; ++r3) {
    for (unsigned r4 = 0; r4 < kRows; ++r4) {
      sum += inner[r3][r4] * w(r3, r4, r0) * w(r4, r0, r1);
    }
  }
  return sum;
}

// The mean of a site's `value` where a state's weight is the product of its sites' `weight`, both
// functions of the spin and the sum of its neighbours. All sites are alike on a torus.
template <class Weight, class Value>
double mean_of_site(Weight weight, Value value) {
  const auto neighbours = [](unsigned above, unsigned row, unsigned below, unsigned j) {
    return spin(row, j + 1) + spin(row, j + kSide - 1) + spin(above, j) + spin(below, j);
  };
  const RowTable w([&](unsigned above, unsigned row, unsigned below) {
    double product = 1;
    for (unsigned j = 0; j < kSide; ++j) {
      product *= weight(spin(row, j), neighbours(above, row, below, j));
    }
    return product;
  });
  const RowTable weighted([&](unsigned above, unsigned row, unsigned below) {
    double sum = 0;
    for (unsigned j = 0; j < kSide; ++j) {
      sum += value(spin(row, j), neighbours(above, row, below, j));
    }
    return w(above, row, below) * sum / kSide;
  });
  double total = 0, moment = 0;
  for (unsigned r0 = 0; r0 < kRows; ++r0) {
    for (unsigned r1 = 0; r1 < kRows; ++r1) {
      total += sum_over(w, w, r0, r1);
      moment += sum_over(weighted, w, r0, r1);
    }
  }
  return moment / total;
}

double spin_itself(int s, int) {
  return s;
}

// The odds of a flip in DULA's and DMALA's proposal.
double flip_odds(double a, double b, double alpha, int s, int sum) {
  return std::exp(-s * (2 * a * sum + b) - 1 / (2 * alpha));
}

}  // namespace

double ising_mean(double a, double b) {
  return mean_of_site([=](int s, int sum) { return std::exp(s * (a * sum + b)); }, spin_itself);
}

double ising_dula_mean(double a, double b, double alpha) {
  return mean_of_site(
      [=](int s, int sum) {
        return std::exp(s * (a * sum + b)) * (1 + flip_odds(a, b, alpha, s, sum));
      },
      spin_itself);
}

double ising_proposed_changes(double a, double b, double alpha) {
  const double of_site = mean_of_site([=](int s, int sum) { return std::exp(s * (a * sum + b)); },
                                      [=](int s, int sum) {
                                        const double odds = flip_odds(a, b, alpha, s, sum);
                                        return odds / (1 + odds);
                                      });
  return kSide * kSide * of_site;
}

}  // namespace saltus::reproduce::ising
