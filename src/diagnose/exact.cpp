#include "saltus/diagnose/exact.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "saltus/core/error.hpp"
#include "saltus/core/parallel.hpp"
#include "saltus/target/constraint.hpp"

namespace saltus {
namespace {

constexpr std::size_t kBlock = 2048;  // states evaluated together, about

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

// States are (head, tail): the tail runs through all levels of the last coordinates, one block for
// each head. Marginal weights of tails and heads are all that means need.
struct Split {
  int first_tail;  // coordinates from here on are the tail
  std::size_t heads = 1, tails = 1;

  explicit Split(const Domain& domain) : first_tail(domain.dim()) {
    while (first_tail > 0 && tails * at(domain.levels(first_tail - 1)) <= kBlock) {
      tails *= at(domain.levels(--first_tail));
    }
    for (int i = 0; i < first_tail; ++i) heads *= at(domain.levels(i));
  }
};

// Writes the levels that `number` stands for into coordinates [first, last) of x.
void write_state(const Domain& domain, std::size_t number, int first, int last, Symbol* x) {
  for (int i = last - 1; i >= first; --i) {
    x[i] = static_cast<Symbol>(number % at(domain.levels(i)));
    number /= at(domain.levels(i));
  }
}

// One thread's share: weights relative to exp(reference).
struct Share {
  RowBuffer<Symbol> states;
  std::vector<double> logp, tail_weight;
  std::vector<std::pair<std::size_t, double>> head_weight;
  double reference = -INFINITY;
  Scratch scratch;

  Share(const Domain& domain, const Split& split)
      : states(static_cast<int>(split.tails), domain.dim()),
        logp(split.tails),
        tail_weight(split.tails) {
    for (std::size_t t = 0; t < split.tails; ++t) {
      write_state(domain, t, split.first_tail, domain.dim(), states.view()[static_cast<int>(t)]);
    }
  }

  void move_reference(double to) {
    const double factor = reference == to ? 1.0 : std::exp(reference - to);
    for (double& w : tail_weight) w *= factor;
    for (auto& [head, w] : head_weight) w *= factor;
    reference = to;
  }

  void add_head(const Target& target, const Split& split, std::size_t head) {
    const Rows<Symbol> x = states.view();
    write_state(target.domain(), head, 0, split.first_tail, x[0]);
    for (int t = 1; t < x.rows; ++t) std::copy_n(x[0], split.first_tail, x[t]);
    target.evaluate_exact({0, 0, scratch}, x, logp.data(), {});
    const double top = *std::max_element(logp.begin(), logp.end());
    if (top == -INFINITY) return;  // no state of the block is possible
    if (top > reference) move_reference(top);
    double sum = 0;
    for (std::size_t t = 0; t < split.tails; ++t) {
      const double w = std::exp(logp[t] - reference);
      tail_weight[t] += w;
      sum += w;
    }
    head_weight.emplace_back(head, sum);
  }
};

void add_weight(const Domain& domain, std::size_t number, int first, int last, double weight,
                ExactAnswer& sums) {
  std::vector<Symbol> x(at(domain.dim()));
  write_state(domain, number, first, last, x.data());
  for (int i = first; i < last; ++i) sums.means[at(i)] += weight * domain.value(x[at(i)]);
  if (sums.classes.empty()) return;
  for (int i = first; i < last; ++i) sums.classes[at(domain.score_begin(i)) + x[at(i)]] += weight;
}

// The states that a constraint allows, a block at a time.
ExactAnswer constrained_answer(const Target& target, const Constraint& constraint) {
  const Domain& domain = target.domain();
  const RowBuffer<Symbol> buffer(static_cast<int>(kBlock), domain.dim());
  std::vector<double> logp(kBlock);
  std::vector<Symbol> x(at(domain.dim()));
  ExactAnswer answer{0, std::vector<double>(at(domain.dim()))};
  double reference = -INFINITY, total = 0;
  Scratch scratch;
  constraint.first(x.data());
  for (bool more = true; more;) {
    Rows<Symbol> rows = buffer.view();
    for (rows.rows = 0; more && rows.rows < static_cast<int>(kBlock); ++rows.rows) {
      std::ranges::copy(x, rows[rows.rows]);
      more = constraint.next(x.data());
    }
    target.evaluate_exact({0, 0, scratch}, rows, logp.data(), {});
    const double top =
        std::max(reference, *std::max_element(logp.begin(), logp.begin() + rows.rows));
    if (top == -INFINITY) continue;
    const double factor = std::exp(reference - top);
    total *= factor;
    for (double& m : answer.means) m *= factor;
    reference = top;
    for (int r = 0; r < rows.rows; ++r) {
      const double weight = std::exp(logp[at(r)] - reference);
      total += weight;
      for (int i = 0; i < domain.dim(); ++i)
        answer.means[at(i)] += weight * domain.value(rows[r][i]);
    }
  }
  for (double& m : answer.means) m /= total;
  answer.log_z = reference + std::log(total);
  return answer;
}

}  // namespace

ExactAnswer exact_answer(const Target& target, int threads) {
  if (const Constraint* constraint = target.constraint()) {
    return constrained_answer(target, *constraint);
  }
  const Domain& domain = target.domain();
  if (domain.unbounded())
    throw UsageError("the model's integers are unbounded: they cannot be gone through");
  const Split split(domain);
  ThreadPool pool(threads);
  std::vector<std::unique_ptr<Share>> shares;
  for (int t = 0; t < pool.threads(); ++t) shares.push_back(std::make_unique<Share>(domain, split));
  pool.for_each(static_cast<int>(split.heads), [&](int head, int thread) {
    shares[at(thread)]->add_head(target, split, at(head));
  });

  double reference = -INFINITY, total = 0;
  for (const auto& s : shares) reference = std::max(reference, s->reference);
  ExactAnswer answer{0, std::vector<double>(at(domain.dim()))};
  if (domain.kind() == Domain::Kind::categorical) answer.classes.resize(at(domain.score_size()));
  for (const auto& s : shares) {
    if (s->head_weight.empty()) continue;
    s->move_reference(reference);
    for (const auto& [head, weight] : s->head_weight) {
      total += weight;
      add_weight(domain, head, 0, split.first_tail, weight, answer);
    }
    for (std::size_t t = 0; t < split.tails; ++t) {
      add_weight(domain, t, split.first_tail, domain.dim(), s->tail_weight[t], answer);
    }
  }
  for (double& m : answer.means) m /= total;
  for (double& p : answer.classes) p /= total;
  answer.log_z = reference + std::log(total);
  return answer;
}

StateTable::StateTable(const Target& target, int levels)
    : target_(target),
      domain_(target.domain().unbounded() ? target.domain().truncated(levels) : target.domain()) {
  const Constraint* constraint = target.constraint();
  const auto count = constraint ? constraint->count(kMostStates) : domain_.states(kMostStates);
  if (!count) {
    throw UsageError("the model has more than " + std::to_string(kMostStates) +
                     " states, too many for an exact table");
  }
  const int states = static_cast<int>(*count), dim = domain_.dim();
  x_ = RowBuffer<Symbol>(states, dim);
  for (int s = 0; s < states; ++s) {
    if (constraint) {
      std::copy_n(x_.view()[std::max(0, s - 1)], dim, x_.view()[s]);
      s == 0 ? constraint->first(x_.view()[s]) : void(constraint->next(x_.view()[s]));
      continue;
    }
    for (int i = dim - 1, rest = s; i >= 0; rest /= domain_.levels(i), --i) {
      x_.view()[s][i] = static_cast<Symbol>(rest % domain_.levels(i));
    }
  }
  score_ = RowBuffer<double>(states, domain_.score_size());
  logp_.resize(*count);
  Scratch scratch;
  target.evaluate_exact({0, 0, scratch}, x_.view(), logp_.data(), score_.view());
  const double top = *std::max_element(logp_.begin(), logp_.end());
  double sum = 0;
  for (double l : logp_) sum += std::exp(l - top);
  log_z_ = top + std::log(sum);
  for (double l : logp_) probability_.push_back(std::exp(l - log_z_));
}

// The place of a state that a constraint allows.
std::size_t StateTable::place(const Symbol* x) const {
  const auto dim = domain_.dim();
  std::size_t low = 0, high = size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    const bool before =
        std::lexicographical_compare(state(middle), state(middle) + dim, x, x + dim);
    before ? low = middle + 1 : high = middle;
  }
  return low < size() && std::equal(x, x + dim, state(low)) ? low : size();
}

std::size_t StateTable::index(const Symbol* x) const {
  if (target_.constraint()) return place(x);
  std::size_t s = 0;
  for (int i = 0; i < domain_.dim(); ++i) {
    if (x[i] >= domain_.levels(i)) return size();
    s = s * static_cast<std::size_t>(domain_.levels(i)) + x[i];
  }
  return s;
}

std::vector<double> StateTable::means(std::span<const double> law) const {
  std::vector<double> mean(static_cast<std::size_t>(domain_.dim()));
  for (std::size_t s = 0; s < size(); ++s) {
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += law[s] * domain_.value(state(s)[i]);
  }
  return mean;
}

}  // namespace saltus
