#include "saltus/target/ising_lattice.hpp"

#include <array>
#include <cmath>

#include "core/scalar_math.hpp"
#include "ops/ops.hpp"
#include "saltus/core/error.hpp"
#include "saltus/core/philox.hpp"
#include "saltus/target/quadratic.hpp"

namespace saltus {
namespace {

int sites(const std::vector<int>& shape) {
  std::int64_t n = 1;
  std::string text;
  for (const int side : shape) {
    text += (text.empty() ? "" : " by ") + std::to_string(side);
    n = side < 1 || n * side > 0x7FFFFFFF ? 0 : n * side;
  }
  if (shape.empty() || n == 0) throw DataError("a lattice of " + text + " sites is not possible");
  return static_cast<int>(n);
}

const std::vector<int>& two_sides(const LatticeModel& model) {
  if (model.shape.size() != 2) throw UsageError("a rectangle has two sides: see make_lattice");
  return model.shape;
}

}  // namespace

std::vector<Coupling> lattice_edges(const LatticeModel& model) {
  std::vector<Coupling> edges;
  const int n = sites(model.shape);
  int stride = n;
  for (const int side : model.shape) {
    stride /= side;
    for (int i = 0; i < n; ++i) {
      const int place = i / stride % side;
      if (place + 1 < side) edges.push_back({i, i + stride, 2 * model.a});
      const bool wraps = model.periodic && side > 2 && place + 1 == side;
      if (wraps) edges.push_back({i - place * stride, i, 2 * model.a});
    }
  }
  return edges;
}

std::unique_ptr<Target> make_lattice(const LatticeModel& model) {
  if (model.shape.size() == 2) return std::make_unique<IsingLattice>(model);
  const int n = sites(model.shape);
  auto graph =
      std::make_unique<Quadratic>("ising-lattice", Domain::spin(n), lattice_edges(model),
                                  std::vector<double>(static_cast<std::size_t>(n), model.b),
                                  Quadratic::Storage::automatic, model.constant);
  graph->set_shape(model.shape);
  return graph;
}

IsingLattice::IsingLattice(const LatticeModel& model)
    : model_(model),
      rows_(two_sides(model)[0]),
      cols_(model.shape[1]),
      domain_(Domain::spin(sites(model.shape))),
      thresholds_(gibbs_thresholds(model.a, model.b)) {}

void IsingLattice::evaluate(const At&, Rows<const Symbol> x, double* logp,
                            Rows<float> score) const {
  const ops::Ops& o = ops::active();
  const ops::Lattice lattice{rows_, cols_, model_.periodic, static_cast<float>(2 * model_.a),
                             static_cast<float>(model_.b)};
  for (int r = 0; r < x.rows; ++r) {
    const ops::LatticeSums sums = o.lattice(lattice, x[r], score ? score[r] : nullptr);
    if (logp)
      logp[r] = model_.a * static_cast<double>(sums.pairs) +
                model_.b * static_cast<double>(sums.spins) + model_.constant;
  }
}

void IsingLattice::evaluate_exact(const At& at, Rows<const Symbol> x, double* logp,
                                  Rows<double> score) const {
  if (!score) return evaluate(at, x, logp, {});
  const RowBuffer<float> neighbours(x.rows, domain_.dim());  // small integers: exact in float
  const ops::Lattice sums_only{rows_, cols_, model_.periodic, 1.0f, 0.0f};
  for (int r = 0; r < x.rows; ++r) {
    const float* sum = neighbours.view()[r];
    const ops::LatticeSums sums = ops::active().lattice(sums_only, x[r], neighbours.view()[r]);
    if (logp)
      logp[r] = model_.a * static_cast<double>(sums.pairs) +
                model_.b * static_cast<double>(sums.spins) + model_.constant;
    for (int i = 0; i < score.cols; ++i) score[r][i] = 2 * model_.a * double{sum[i]} + model_.b;
  }
}

std::span<const std::int32_t> IsingLattice::neighbours(int i, std::int32_t* room) const {
  const int r = i / cols_, c = i % cols_;
  std::int32_t* end = room;
  // Left and right, or up and down: of two neighbours that are one site there is one edge.
  const auto along = [&](int at, int length, int stride) {
    if (at > 0) *end++ = i - stride;
    if (at + 1 < length) *end++ = i + stride;
    if (!model_.periodic || length <= 2) return;
    if (at == 0) *end++ = i + (length - 1) * stride;
    if (at + 1 == length) *end++ = i - (length - 1) * stride;
  };
  along(c, cols_, 1);
  along(r, rows_, cols_);
  return {room, end};
}

int IsingLattice::neighbour_sum(const Symbol* x, int i) const {
  std::array<std::int32_t, 4> room;
  int sum = 0;
  for (std::int32_t j : neighbours(i, room.data())) sum += 2 * x[j] - 1;
  return sum;
}

void IsingLattice::differences(const LocalRow& row, int i, int first, int count,
                               double* out) const {
  const double field = 2 * model_.a * neighbour_sum(row.x, i) + model_.b;
  for (int m = 0; m < count; ++m) out[m] = 2 * (first + m - row.x[i]) * field;
}

void IsingLattice::move(const LocalRow& row, int i, Symbol to) const {
  row.x[i] = to;
  if (!row.score) return;
  std::array<std::int32_t, 4> room;
  const auto a2 = static_cast<float>(2 * model_.a), b = static_cast<float>(model_.b);
  for (std::int32_t j : neighbours(i, room.data())) {
    row.score[j] = a2 * static_cast<float>(neighbour_sum(row.x, j)) + b;
  }
}

// 0 and 1 are among the probabilities.
std::uint32_t IsingLattice::gibbs_threshold(double a, double b, int sum_of_neighbours) {
  const double p = sigmoid(2 * (2 * a * sum_of_neighbours + b));
  return static_cast<std::uint32_t>(std::llround(p * 0x1p31));
}

IsingLattice::Thresholds IsingLattice::gibbs_thresholds(double a, double b) {
  Thresholds thresholds{};
  for (int degree = 0; degree <= 4; ++degree) {
    for (int up = 0; up <= degree; ++up) {
      thresholds[static_cast<std::size_t>(degree)][static_cast<std::size_t>(up)] =
          gibbs_threshold(a, b, 2 * up - degree);
    }
  }
  return thresholds;
}

namespace {

Stream stream_of(const GibbsSweeps::Draws& draws, int r) {
  return Stream(draws.seed, draws.first_chain + static_cast<std::uint32_t>(r), draws.step,
                Purpose::level);
}

}  // namespace

void IsingLattice::update(const At&, Rows<Symbol> x, std::span<const std::int32_t> order,
                          const Draws& draws, std::uint32_t* changed) const {
  for (int r = 0; r < x.rows; ++r) {
    const Stream stream = stream_of(draws, r);
    Symbol* row = x[r];
    PhiloxBlock words{};
    std::array<std::int32_t, 4> room;
    for (std::size_t t = 0; t < order.size(); ++t) {
      const std::uint32_t word = draws.first_word + static_cast<std::uint32_t>(t);
      if (t == 0 || word % 4 == 0) words = stream.block(word / 4);
      const auto near = neighbours(order[t], room.data());
      unsigned up = 0;
      for (std::int32_t j : near) up += row[j];
      Symbol& site = row[order[t]];
      const Symbol drawn = words[word % 4] >> 1 < thresholds_[near.size()][up];
      changed[r] += drawn != site;
      site = drawn;
    }
  }
}

int IsingLattice::groups() const {
  const auto odd_ring = [&](int length) {
    return model_.periodic && length > 2 && length % 2 == 1;
  };
  return odd_ring(rows_) || odd_ring(cols_) ? 0 : 2;
}

void IsingLattice::update_group(const At&, Rows<Symbol> x, int group, const Draws& draws,
                                std::uint32_t* changed) const {
  const ops::LatticeGibbs law{rows_, cols_, model_.periodic, thresholds_};
  for (int r = 0; r < x.rows; ++r) {
    changed[r] +=
        ops::active().gibbs_lattice(law, group, x[r], stream_of(draws, r), draws.first_word);
  }
}

std::vector<std::int32_t> IsingLattice::group(int colour) const {
  std::vector<std::int32_t> sites;
  for (int i = 0; i < domain_.dim(); ++i) {
    if ((i / cols_ + i % cols_) % 2 == colour) sites.push_back(i);
  }
  return sites;
}

}  // namespace saltus
