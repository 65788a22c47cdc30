#include "saltus/target/quadratic.hpp"

#include <algorithm>

#include "ops/gemm.hpp"
#include "ops/ops.hpp"
#include "saltus/core/error.hpp"
#include "saltus/core/philox.hpp"
#include "target/changes.hpp"

namespace saltus {

// S = A + A', by rows: sparse always (exact evaluation reads it), dense when that is faster; and
// the upper triangle with half of the diagonal, from which logp follows.
struct Quadratic::Matrix {
  std::vector<std::int64_t> begin;
  std::vector<std::int32_t> column;
  std::vector<double> weight;
  std::vector<float> weight_single;
  std::vector<std::int64_t> upper_begin{0};
  std::vector<std::int32_t> upper_column;
  std::vector<double> upper_weight;
  std::vector<double> diagonal;                    // of S
  std::vector<float> diagonal_single, gibbs_base;  // see ops::PairGibbs; for two levels
  int max_degree = 0;                              // entries of a row
  RowBuffer<float> dense;

  Matrix(int n, const std::vector<Coupling>& couplings) : begin(static_cast<std::size_t>(n) + 1) {
    const auto at = [](int i) { return static_cast<std::size_t>(i); };
    for (const Coupling& c : couplings) {
      if (c.i < 0 || c.j < 0 || c.i >= n || c.j >= n) {
        throw DataError("a coupling joins coordinates " + std::to_string(c.i) + " and " +
                        std::to_string(c.j) + ", but they count from 0 to " +
                        std::to_string(n - 1));
      }
      ++begin[at(c.i) + 1];
      ++begin[at(c.j) + 1];
    }
    for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
    std::vector<std::int64_t> next(begin.begin(), begin.end() - 1);
    std::vector<std::pair<std::int32_t, double>> entries(static_cast<std::size_t>(begin.back()));
    for (const Coupling& c : couplings) {
      entries[static_cast<std::size_t>(next[at(c.i)]++)] = {c.j, c.weight};
      entries[static_cast<std::size_t>(next[at(c.j)]++)] = {c.i, c.weight};
    }
    sort_and_merge(entries);
    weight_single.assign(weight.begin(), weight.end());
    take_upper();
  }

  // Columns in order within each row; equal ones (both halves of a diagonal, w_ij and w_ji) added.
  void sort_and_merge(std::vector<std::pair<std::int32_t, double>>& entries) {
    std::int64_t read = 0;
    for (std::size_t i = 0; i + 1 < begin.size(); ++i) {
      const auto first = entries.begin() + read, last = entries.begin() + begin[i + 1];
      read = begin[i + 1];
      std::sort(first, last, [](auto& a, auto& b) { return a.first < b.first; });
      begin[i] = static_cast<std::int64_t>(column.size());
      for (auto e = first; e != last; ++e) {
        if (e != first && e->first == (e - 1)->first) {
          weight.back() += e->second;
        } else {
          column.push_back(e->first);
          weight.push_back(e->second);
        }
      }
    }
    begin.back() = static_cast<std::int64_t>(column.size());
  }

  void take_upper() {
    diagonal.resize(begin.size() - 1);
    for (std::size_t i = 0; i + 1 < begin.size(); ++i) {
      for (auto e = static_cast<std::size_t>(begin[i]); e < static_cast<std::size_t>(begin[i + 1]);
           ++e) {
        const auto j = static_cast<std::size_t>(column[e]);
        if (j == i) diagonal[i] = weight[e];
        if (j < i) continue;
        upper_column.push_back(column[e]);
        upper_weight.push_back(i == j ? weight[e] / 2 : weight[e]);
      }
      upper_begin.push_back(static_cast<std::int64_t>(upper_column.size()));
      max_degree = std::max(max_degree, static_cast<int>(begin[i + 1] - begin[i]));
    }
  }

  // All entries of a symmetric matrix, zeros too. The places are made once. Dense models do without
  // the upper triangle.
  void set_all(int n, std::span<const float> all) {
    if (column.size() != all.size()) {
      column.resize(all.size());
      for (std::size_t e = 0; e < all.size(); ++e) {
        column[e] = static_cast<std::int32_t>(e % static_cast<std::size_t>(n));
      }
      for (std::size_t i = 0; i < begin.size(); ++i) begin[i] = static_cast<std::int64_t>(i) * n;
      max_degree = n;
      upper_begin.clear(), upper_column.clear(), upper_weight.clear();
    }
    weight.assign(all.begin(), all.end());
    weight_single.assign(all.begin(), all.end());
    for (int i = 0; i < n; ++i) {
      const float* row = all.data() + static_cast<std::ptrdiff_t>(i) * n;
      diagonal[static_cast<std::size_t>(i)] = double{row[i]};
      std::copy_n(row, n, dense.view()[i]);
    }
  }

  // logp(v_i = v1) - logp(v_i = v0), with spacing h = v1 - v0 and all other coordinates at v0, is
  //   h (b_i + v0 sum_{j != i} S_ij) + (v1^2 - v0^2) S_ii / 2.
  void make_gibbs_base(const Domain& domain, const std::vector<double>& field) {
    diagonal_single.assign(diagonal.begin(), diagonal.end());
    const double v0 = domain.value(0), v1 = domain.value(1);
    gibbs_base.clear();
    for (std::size_t i = 0; i < field.size(); ++i) {
      double others = -diagonal[i];
      for (auto e = static_cast<std::size_t>(begin[i]); e < static_cast<std::size_t>(begin[i + 1]);
           ++e) {
        others += weight[e];
      }
      gibbs_base.push_back(static_cast<float>((v1 - v0) * (field[i] + v0 * others) +
                                              (v1 * v1 - v0 * v0) * diagonal[i] / 2));
    }
  }

  void make_dense(int n) {
    ops::load_blas();
    dense = RowBuffer<float>(n, n);
    for (int i = 0; i < n; ++i) {
      for (auto e = begin[static_cast<std::size_t>(i)]; e < begin[static_cast<std::size_t>(i) + 1];
           ++e) {
        dense.view()[i][column[static_cast<std::size_t>(e)]] =
            weight_single[static_cast<std::size_t>(e)];
      }
    }
  }
};

Quadratic::Quadratic(std::string name, Domain domain, const std::vector<Coupling>& couplings,
                     std::vector<double> field, Storage storage, double constant)
    : name_(std::move(name)),
      domain_(std::move(domain)),
      shape_{domain_.dim()},
      field_(std::move(field)),
      constant_(constant) {
  const int n = domain_.dim();
  if (domain_.kind() != Domain::Kind::ordered)
    throw UsageError("a quadratic model needs ordered levels");
  if (field_.empty()) field_.resize(static_cast<std::size_t>(n));
  if (static_cast<int>(field_.size()) != n) {
    throw DataError("the field has " + std::to_string(field_.size()) + " entries for " +
                    std::to_string(n) + " coordinates");
  }
  field_single_.assign(field_.begin(), field_.end());
  matrix_ = std::make_unique<Matrix>(n, couplings);
  const double filled = static_cast<double>(matrix_->column.size()) / n / n;
  const bool dense =
      storage == Storage::dense || (storage == Storage::automatic && filled > 0.25 && n >= 32);
  if (dense) matrix_->make_dense(n);
  if (domain_.two_level()) matrix_->make_gibbs_base(domain_, field_);
}

Quadratic::~Quadratic() = default;

void Quadratic::set_shape(std::vector<int> shape) {
  std::int64_t cells = 1;
  for (const int side : shape) cells *= side;
  if (cells != domain_.dim()) throw UsageError("a shape must have a cell for each coordinate");
  shape_ = std::move(shape);
}

void Quadratic::set_matrix(std::span<const float> symmetric, std::span<const float> field) {
  const std::size_t n = field_.size();
  if (!dense()) throw UsageError("only a dense quadratic model can change its matrix");
  if (symmetric.size() != n * n || field.size() != n) {
    throw DataError("a quadratic model cannot change its number of coordinates");
  }
  field_.assign(field.begin(), field.end());
  field_single_.assign(field.begin(), field.end());
  matrix_->set_all(domain_.dim(), symmetric);
  if (domain_.two_level()) matrix_->make_gibbs_base(domain_, field_);
}

bool Quadratic::dense() const {
  return static_cast<bool>(matrix_->dense.view());
}

void Quadratic::evaluate(const At& at, Rows<const Symbol> x, double* logp,
                         Rows<float> score) const {
  const auto first = static_cast<float>(domain_.first_value());
  const auto spacing = static_cast<float>(domain_.spacing());
  const std::size_t n = field_.size();
  if (dense()) {
    float* room = at.scratch.get<float>(0, n * static_cast<std::size_t>(x.rows) * 2);
    ops::dense_fields(matrix_->dense.view(), field_single_.data(), first, spacing, x, score, logp,
                      room);
    for (int r = 0; logp && r < x.rows; ++r) logp[r] += constant_;
    return;
  }
  const Matrix& m = *matrix_;
  const ops::SparseFields fields{
      static_cast<int>(n),
      {m.begin.data(), m.column.data(), m.weight_single.data()},
      field_single_.data(),
      {m.upper_begin.data(), m.upper_column.data(), m.upper_weight.data()},
      field_.data(),
      first,
      spacing};
  float* room = at.scratch.get<float>(0, n * ops::kLanes);
  for (int r = 0; r < x.rows; r += ops::kLanes) {
    const int rows = std::min(ops::kLanes, x.rows - r);
    const Rows<float> part = score ? Rows<float>{score[r], rows, score.cols, score.stride} : score;
    ops::active().sparse_fields(fields, {x[r], rows, x.cols, x.stride}, part,
                                logp ? logp + r : nullptr, room);
  }
  for (int r = 0; logp && r < x.rows; ++r) logp[r] += constant_;
}

// A change of v_i by d adds d times row i of S to the score. Rows with too many changes for that
// share a product.
void Quadratic::evaluate_near(const At& at, const Evaluated& known, Rows<const Symbol> y,
                              double* logp, Rows<float> score, Rows<float>) const {
  if (!dense() || !score) return evaluate(at, y, logp, score);
  const int n = domain_.dim(), limit = few_changes(matrix_->dense.view());
  const auto rows = static_cast<std::size_t>(y.rows), cols = static_cast<std::size_t>(padded(n));
  auto* terms = at.scratch.get<ops::ScaledRow>(1, static_cast<std::size_t>(limit));
  int* far = at.scratch.get<int>(2, rows);
  int count = 0;
  for (int r = 0; r < y.rows; ++r) {
    const auto spacing = static_cast<float>(domain_.spacing());
    const int changed = changes(known.x[r], y[r], n, spacing, limit, terms);
    if (changed < 0) {
      far[count++] = r;
      continue;
    }
    ops::active().add_rows(n, matrix_->dense.view(), terms, changed, known.score[r], score[r]);
    if (!logp) continue;
    const auto first = static_cast<float>(domain_.first_value());
    logp[r] = ops::active().weigh_values(n, y[r], first, spacing, score[r], field_.data()) / 2 +
              constant_;
  }
  if (count == y.rows) return evaluate(at, y, logp, score);
  if (count == 0) return;
  const Rows<Symbol> x{at.scratch.get<Symbol>(3, rows * cols), count, n, padded(n)};
  const Rows<float> made{at.scratch.get<float>(4, rows * cols), count, n, padded(n)};
  double* sums = logp ? at.scratch.get<double>(5, rows) : nullptr;
  for (int k = 0; k < count; ++k) std::copy_n(y[far[k]], n, x[k]);
  evaluate(at, x, sums, made);
  for (int k = 0; k < count; ++k) {
    std::copy_n(made[k], n, score[far[k]]);
    if (logp) logp[far[k]] = sums[k];
  }
}

void Quadratic::evaluate_exact(const At&, Rows<const Symbol> x, double* logp,
                               Rows<double> score) const {
  for (int r = 0; r < x.rows; ++r) {
    double sum = constant_;
    for (std::size_t i = 0; i < field_.size(); ++i) {
      double pairs = 0;
      for (auto e = static_cast<std::size_t>(matrix_->begin[i]);
           e < static_cast<std::size_t>(matrix_->begin[i + 1]); ++e) {
        pairs += matrix_->weight[e] * domain_.value(x[r][matrix_->column[e]]);
      }
      if (score) score[r][i] = pairs + field_[i];
      sum += domain_.value(x[r][i]) * (pairs / 2 + field_[i]);
    }
    if (logp) logp[r] = sum;
  }
}

// A change of v_i by d changes v'Sv/2 + b'v by d (S v + b)_i + d^2 S_ii / 2.
void Quadratic::differences(const LocalRow& row, int i, int first, int count, double* out) const {
  const auto at = static_cast<std::size_t>(i);
  double field = 0;
  if (dense()) {
    field = double{row.score[i]};
  } else {
    field = field_[at];
    for (auto e = static_cast<std::size_t>(matrix_->begin[at]);
         e < static_cast<std::size_t>(matrix_->begin[at + 1]); ++e) {
      field += matrix_->weight[e] * domain_.value(row.x[matrix_->column[e]]);
    }
  }
  const double half_diagonal = matrix_->diagonal[at] / 2;
  for (int m = 0; m < count; ++m) {
    const double d = domain_.spacing() * (first + m - row.x[i]);
    out[m] = d * field + d * d * half_diagonal;
  }
}

void Quadratic::move(const LocalRow& row, int i, Symbol to) const {
  const auto at = static_cast<std::size_t>(i);
  const auto d = static_cast<float>(domain_.spacing() * (to - row.x[i]));
  row.x[i] = to;
  if (!row.score) return;
  if (dense()) {
    const ops::ScaledRow term{i, d};
    return ops::active().add_rows(domain_.dim(), matrix_->dense.view(), &term, 1, row.score,
                                  row.score);
  }
  for (auto e = static_cast<std::size_t>(matrix_->begin[at]);
       e < static_cast<std::size_t>(matrix_->begin[at + 1]); ++e) {
    row.score[matrix_->column[e]] += d * matrix_->weight_single[e];
  }
}

std::span<const std::int32_t> Quadratic::neighbours(int i, std::int32_t*) const {
  const auto at = static_cast<std::size_t>(i);
  return std::span(matrix_->column)
      .subspan(static_cast<std::size_t>(matrix_->begin[at]),
               static_cast<std::size_t>(matrix_->begin[at + 1] - matrix_->begin[at]));
}

int Quadratic::max_neighbours() const {
  return matrix_->max_degree;
}

void Quadratic::evaluate_relaxed(const At& at, Rows<const float> v, double* logp,
                                 Rows<float> gradient) const {
  const int n = domain_.dim();
  const Matrix& m = *matrix_;
  float* pairs = at.scratch.get<float>(0, field_.size() * static_cast<std::size_t>(v.rows));
  if (dense()) {  // v S for a symmetric S
    ops::multiply(v.rows, n, n, v.data, v.stride, m.dense.view().data, m.dense.view().stride, pairs,
                  n);
  }
  for (int r = 0; r < v.rows; ++r) {
    const float* product = pairs + static_cast<std::ptrdiff_t>(r) * n;
    double sum = constant_;
    for (std::size_t i = 0; i < field_.size(); ++i) {
      double field = dense() ? double{product[i]} : 0;
      for (auto e = static_cast<std::size_t>(m.begin[i]);
           !dense() && e < static_cast<std::size_t>(m.begin[i + 1]); ++e) {
        field += m.weight[e] * double{v[r][m.column[e]]};
      }
      if (gradient) gradient[r][i] = static_cast<float>(field + field_[i]);
      sum += double{v[r][i]} * (field / 2 + field_[i]);
    }
    if (logp) logp[r] = sum;
  }
}

// Fewer chains of a dense model than this leave so many lanes empty that going through them
// one by one takes less time.
constexpr int kFewChains = 4;

// Sixteen chains side by side, which computes every field anew; or, for few chains of a dense
// model, one at a time with its fields kept up to date.
void Quadratic::update(const At& at, Rows<Symbol> x, std::span<const std::int32_t> order,
                       const Draws& draws, std::uint32_t* changed) const {
  const auto stream = [&](int r) {
    return Stream(draws.seed, draws.first_chain + static_cast<std::uint32_t>(r), draws.step,
                  Purpose::level);
  };
  const Matrix& m = *matrix_;
  const auto n = static_cast<std::size_t>(domain_.dim());
  const auto count = static_cast<int>(order.size());
  const auto spacing = static_cast<float>(domain_.spacing());
  if (dense() && x.rows < kFewChains) {
    const int stride = padded(domain_.dim());
    const Rows<float> score{at.scratch.get<float>(1, static_cast<std::size_t>(x.rows) *
                                                         static_cast<std::size_t>(stride)),
                            x.rows, domain_.dim(), stride};
    evaluate(at, x, nullptr, score);
    const ops::DenseGibbs law{m.dense.view(), field_single_.data(),
                              static_cast<float>(domain_.first_value()), spacing};
    for (int r = 0; r < x.rows; ++r) {
      changed[r] += ops::active().gibbs_dense(law, x[r], score[r], order.data(), count, stream(r),
                                              draws.first_word);
    }
    return;
  }
  const ops::PairGibbs law{domain_.dim(),
                           {m.begin.data(), m.column.data(), m.weight_single.data()},
                           m.diagonal_single.data(),
                           m.gibbs_base.data(),
                           spacing * spacing,
                           m.dense.view()};
  auto* room = at.scratch.get<std::uint16_t>(1, n);
  for (int r = 0; r < x.rows; r += ops::kLanes) {
    ops::active().gibbs_pairs(law, {x[r], std::min(ops::kLanes, x.rows - r), x.cols, x.stride},
                              order.data(), count, stream(r), draws.first_word, changed + r, room);
  }
}

QuadraticModel Quadratic::model() const {
  QuadraticModel model{domain_, {}, field_, constant_};
  for (int i = 0; i < domain_.dim(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    for (auto e = static_cast<std::size_t>(matrix_->begin[at]);
         e < static_cast<std::size_t>(matrix_->begin[at + 1]); ++e) {
      const int j = matrix_->column[e];
      if (j < i || matrix_->weight[e] == 0) continue;
      model.couplings.push_back({i, j, matrix_->weight[e] / (i == j ? 2 : 1)});
    }
  }
  return model;
}

std::unique_ptr<Quadratic> make_ising(const IsingModel& model) {
  return make_ising(model.n, model.couplings, model.fields, Quadratic::Storage::automatic,
                    model.constant);
}

std::unique_ptr<Quadratic> make_ising(int n, const std::vector<Coupling>& couplings,
                                      std::vector<double> field, Quadratic::Storage storage,
                                      double constant) {
  for (const Coupling& c : couplings) {
    if (c.i == c.j) throw DataError("spin " + std::to_string(c.i) + " is coupled to itself");
  }
  return std::make_unique<Quadratic>("ising", Domain::spin(n), couplings, std::move(field), storage,
                                     constant);
}

}  // namespace saltus
