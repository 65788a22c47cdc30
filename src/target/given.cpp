#include "saltus/target/given.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/core/error.hpp"
#include "saltus/core/philox.hpp"

namespace saltus {
namespace {

std::vector<std::int32_t> some_left(const GivenValues& given, const Target& model) {
  if (!given.fixes_all()) return given.free();
  throw UsageError("all coordinates of the model " + model.name() +
                   " are given: there is nothing left to draw");
}

enum Slot : std::size_t { kStates, kOthers, kScore, kKnownScore, kOrder };

}  // namespace

// Memory for one call: the scratch of At belongs to the model. Calls may be nested, where a model
// is such a target itself.
class Given::Room {
 public:
  Room() {
    if (pool().size() == depth()) pool().push_back(std::make_unique<Scratch>());
    scratch_ = pool()[depth()++].get();
  }
  ~Room() { --depth(); }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  template <class T>
  T* get(std::size_t slot, int count) {
    return scratch_->get<T>(slot, static_cast<std::size_t>(count));
  }
  template <class T>
  Rows<T> rows(std::size_t slot, int rows, int cols) {
    const int stride = padded(cols);
    const auto count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(stride);
    return {scratch_->get<T>(slot, count), rows, cols, stride};
  }

 private:
  static std::vector<std::unique_ptr<Scratch>>& pool() {
    thread_local std::vector<std::unique_ptr<Scratch>> of_thread;
    return of_thread;
  }
  static std::size_t& depth() {
    thread_local std::size_t of_thread = 0;
    return of_thread;
  }
  Scratch* scratch_;
};

Given::Given(std::shared_ptr<const Target> model, std::vector<GivenValue> list)
    : model_(std::move(model)),
      given_(model_->domain(), std::move(list)),
      domain_(restricted(model_->domain(), some_left(given_, *model_))) {}

int Given::cache_size() const {
  const int own = model_->cache_size();
  return caches_score() ? padded(own) + model_->domain().score_size() : own;
}

template <class T>
Rows<T> Given::cache_of_model(Rows<T> cache) const {
  const int size = model_->cache_size();
  return cache && size > 0 ? Rows<T>{cache.data, cache.rows, size, cache.stride} : Rows<T>{};
}

template <class T>
Rows<T> Given::score_of_model(Rows<T> cache) const {
  if (!cache || !caches_score()) return {};
  return {cache.data + padded(model_->cache_size()), cache.rows, model_->domain().score_size(),
          cache.stride};
}

Rows<Symbol> Given::whole_rows(Room& room, std::size_t slot, Rows<const Symbol> x) const {
  const Rows<Symbol> all = room.rows<Symbol>(slot, x.rows, model_->domain().dim());
  for (int r = 0; r < x.rows; ++r) {
    given_.scatter(x[r], all[r]);
    std::fill(all[r] + all.cols, all[r] + all.stride, Symbol{0});  // which passes may read
  }
  return all;
}

template <class T>
void Given::gather_columns(Rows<const T> all, Rows<T> some) const {
  for (int r = 0; r < all.rows; ++r) {
    for (int i = 0; i < domain_.dim(); ++i) some[r][i] = all[r][full(i)];
  }
}

template <class T>
void Given::gather_score(Rows<const T> all, Rows<T> some) const {
  if (!some) return;
  const Domain& whole = model_->domain();
  if (whole.kind() == Domain::Kind::ordered) return gather_columns(all, some);
  for (int r = 0; r < all.rows; ++r) {
    for (int i = 0; i < domain_.dim(); ++i) {
      std::copy_n(all[r] + whole.score_begin(full(i)), domain_.levels(i),
                  some[r] + domain_.score_begin(i));
    }
  }
}

void Given::evaluate(const At& at, Rows<const Symbol> x, double* logp, Rows<float> score) const {
  evaluate_and_cache(at, x, logp, score, {});
}

void Given::evaluate_exact(const At& at, Rows<const Symbol> x, double* logp,
                           Rows<double> score) const {
  Room room;
  Rows<double> all;
  if (score) all = room.rows<double>(kScore, x.rows, model_->domain().score_size());
  model_->evaluate_exact(at, whole_rows(room, kStates, x), logp, all);
  gather_score<double>(all, score);
}

void Given::evaluate_and_cache(const At& at, Rows<const Symbol> x, double* logp, Rows<float> score,
                               Rows<float> cache) const {
  Room room;
  Rows<float> all = score_of_model(cache);
  if (!all && score) all = room.rows<float>(kScore, x.rows, model_->domain().score_size());
  model_->evaluate_and_cache(at, whole_rows(room, kStates, x), logp, all, cache_of_model(cache));
  gather_score<float>(all, score);
}

void Given::evaluate_near(const At& at, const Evaluated& known, Rows<const Symbol> y, double* logp,
                          Rows<float> score, Rows<float> cache) const {
  if (!cheap_near()) return evaluate_and_cache(at, y, logp, score, cache);
  Room room;
  Rows<float> all = score_of_model(cache);
  if (!all && score) all = room.rows<float>(kScore, y.rows, model_->domain().score_size());
  model_->evaluate_near(at,
                        {whole_rows(room, kOthers, known.x), score_of_model(known.target_cache),
                         cache_of_model(known.target_cache)},
                        whole_rows(room, kStates, y), logp, all, cache_of_model(cache));
  gather_score<float>(all, score);
}

LocalRow Given::row_of_model(const LocalRow& row, Symbol* x) const {
  given_.scatter(row.x, x);
  const bool cache = row.target_cache && moves()->need_target_cache(),
             score = row.target_cache && moves()->need_score();
  return {x, score ? row.target_cache + padded(model_->cache_size()) : nullptr,
          cache ? row.target_cache : nullptr};
}

void Given::differences(const LocalRow& row, int i, int first, int count, double* out) const {
  Room room;
  Symbol* x = room.get<Symbol>(kStates, padded(model_->domain().dim()));
  moves()->differences(row_of_model(row, x), full(i), first, count, out);
}

void Given::move(const LocalRow& row, int i, Symbol to) const {
  Room room;
  Symbol* x = room.get<Symbol>(kStates, padded(model_->domain().dim()));
  if (row.target_cache) moves()->move(row_of_model(row, x), full(i), to);
  row.x[i] = to;
}

std::span<const std::int32_t> Given::neighbours(int i, std::int32_t* room) const {
  std::int32_t* end = room;
  for (const std::int32_t j : moves()->neighbours(full(i), room)) {
    if (!given_.is_given(j)) *end++ = given_.place(j);  // never beyond what has been read
  }
  return {room, end};
}

void Given::update(const At& at, Rows<Symbol> x, std::span<const std::int32_t> order,
                   const Draws& draws, std::uint32_t* changed) const {
  Room room;
  auto* places = room.get<std::int32_t>(kOrder, static_cast<int>(order.size()));
  std::ranges::transform(order, places, [this](std::int32_t i) { return full(i); });
  const Rows<Symbol> all = whole_rows(room, kStates, x);
  sweeps()->update(at, all, {places, order.size()}, draws, changed);
  for (int r = 0; r < x.rows; ++r) given_.gather(all[r], x[r]);
}

void Given::evaluate_relaxed(const At& at, Rows<const float> v, double* logp,
                             Rows<float> gradient) const {
  Room room;
  const Domain& whole = model_->domain();
  const Rows<float> all = room.rows<float>(kKnownScore, v.rows, whole.dim());
  for (int r = 0; r < v.rows; ++r) {
    for (const auto& [i, level] : given_.list()) all[r][i] = static_cast<float>(whole.value(level));
    for (int i = 0; i < domain_.dim(); ++i) all[r][full(i)] = v[r][i];
  }
  Rows<float> of_all;
  if (gradient) of_all = room.rows<float>(kScore, v.rows, whole.dim());
  model_->relaxation()->evaluate_relaxed(at, all, logp, of_all);
  if (gradient) gather_columns<float>(of_all, gradient);
}

void Given::hidden_log_odds(const At& at, Rows<const Symbol> x, Rows<float> out) const {
  Room room;
  units()->hidden_log_odds(at, whole_rows(room, kStates, x), out);
}

void Given::visible_log_odds(const At& at, Rows<const Symbol> hidden, Rows<float> out) const {
  Room room;
  const Rows<float> all = room.rows<float>(kScore, hidden.rows, model_->domain().dim());
  units()->visible_log_odds(at, hidden, all);
  gather_columns<float>(all, out);
}

void Given::hidden_log_odds_exact(const Symbol* x, double* out) const {
  Room room;
  Symbol* all = room.get<Symbol>(kStates, padded(model_->domain().dim()));
  given_.scatter(x, all);
  units()->hidden_log_odds_exact(all, out);
}

void Given::visible_log_odds_exact(const Symbol* hidden, double* out) const {
  Room room;
  auto* all = room.get<double>(kScore, padded(model_->domain().dim()));
  units()->visible_log_odds_exact(hidden, all);
  for (int i = 0; i < domain_.dim(); ++i) out[i] = all[full(i)];
}

// One coordinate after the other goes to a level that leaves the fewest parts of log p infinite, or
// now and then to any. Differences count these parts; whether some are left, log p says.
bool Given::make_allowed(const Stream& stream, Symbol* x) const {
  constexpr int kRounds = 2000;
  constexpr double kRandomMoves = 0.1;
  std::uint32_t next = 0;
  const auto below = [&](std::size_t n) {
    return std::min(static_cast<std::size_t>(stream.uniform(next++) * static_cast<double>(n)),
                    n - 1);
  };
  std::vector<double> change(static_cast<std::size_t>(domain_.max_levels()));
  std::vector<Symbol> best;
  for (int round = 0; round < kRounds; ++round) {
    if (logp_of(*this, x) > -INFINITY) return true;
    for (int m = 0; m < domain_.dim(); ++m) {
      const int i = static_cast<int>(below(static_cast<std::size_t>(domain_.dim())));
      const int levels = domain_.levels(i);
      differences({x, nullptr, nullptr}, i, 0, levels, change.data());
      double most = -INFINITY;
      for (int k = 0; k < levels; ++k) {
        const double parts = std::nearbyint(change[static_cast<std::size_t>(k)] / penalty());
        if (parts > most) best.clear();
        if (parts >= most) best.push_back(static_cast<Symbol>(k));
        most = std::max(most, parts);
      }
      x[i] = stream.uniform(next++) < kRandomMoves
                 ? static_cast<Symbol>(below(static_cast<std::size_t>(levels)))
                 : best[below(best.size())];
    }
  }
  return false;
}

}  // namespace saltus
