// The single passes at every instruction-set level, and the pieces around them.
//
//   build/bench/bench/saltus_benchmark --benchmark_filter=propose
//
// items_per_second counts coordinates (levels, for the passes over levels; numbers, for the rest).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "bench/models.hpp"
#include "ops/gemm.hpp"
#include "ops/ops.hpp"
#include "saltus/diagnose/chains.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/target/binary_network.hpp"

namespace saltus::bench {
namespace {

using ::benchmark::DoNotOptimize;
using ::benchmark::State;

// Padded like rows, as the passes want them.
std::vector<float> floats(int count) {
  const auto numbers = uniform_numbers(static_cast<std::size_t>(padded(count)), -1, 1);
  return {numbers.begin(), numbers.end()};
}

std::vector<Symbol> symbols(int count, int levels) {
  const auto numbers = uniform_numbers(static_cast<std::size_t>(padded(count)), 0, levels);
  return {numbers.begin(), numbers.end()};
}

void count_items(State& state, std::int64_t items) {
  state.SetItemsProcessed(state.iterations() * items);
}

void propose_two_level(State& state, const ops::Ops& ops, bool want_log_q) {
  const int n = static_cast<int>(state.range(0));
  const float penalty = 1.25f;
  const ops::TwoLevelLaw law{1.0f, &penalty, true};
  const auto x = symbols(n, 2);
  const auto score = floats(n);
  std::vector<Symbol> y(x.size());
  std::uint64_t step = 0;
  for (auto _ : state) {
    const Stream stream(1, 0, step++, Purpose::propose);
    DoNotOptimize(
        ops.propose_two_level(law, n, x.data(), score.data(), y.data(), stream, want_log_q));
  }
  count_items(state, n);
}

void log_q_two_level(State& state, const ops::Ops& ops) {
  const int n = static_cast<int>(state.range(0));
  const float penalty = 1.25f;
  const ops::TwoLevelLaw law{1.0f, &penalty, true};
  const auto x = symbols(n, 2);
  const auto score = floats(n);
  std::vector<Symbol> y(x);
  for (std::size_t i = 0; i < y.size(); i += 4) y[i] ^= 1;
  for (auto _ : state) DoNotOptimize(ops.log_q_two_level(law, n, x.data(), score.data(), y.data()));
  count_items(state, n);
}

void lattice_fields(State& state, const ops::Ops& ops) {
  const int side = static_cast<int>(state.range(0));
  const auto x = symbols(side * side, 2);
  std::vector<float> score(x.size());
  const ops::Lattice law{side, side, true, 0.2f, 0.2f};
  for (auto _ : state) DoNotOptimize(ops.lattice(law, x.data(), score.data()));
  count_items(state, side * side);
}

// 16 chains on a graph whose sites have six neighbours at random places.
void sparse_fields(State& state, const ops::Ops& ops, bool want_logp) {
  const int n = static_cast<int>(state.range(0)), degree = 6, rows = 16;
  std::vector<std::int64_t> begin;
  for (int i = 0; i <= n; ++i) begin.push_back(std::int64_t{degree} * i);
  const auto places = uniform_numbers(static_cast<std::size_t>(n * degree), 0, n);
  const std::vector<std::int32_t> column(places.begin(), places.end());
  const auto weight = floats(n * degree), field = floats(n);
  const std::vector<double> exact_weight(weight.begin(), weight.end());
  const std::vector<double> exact_field(field.begin(), field.end());
  const std::vector<double> half(exact_weight.begin(), exact_weight.end() - n * degree / 2);
  std::vector<std::int64_t> half_begin;
  for (int i = 0; i <= n; ++i) half_begin.push_back(std::int64_t{degree / 2} * i);
  const ops::SparseFields fields{n,
                                 {begin.data(), column.data(), weight.data()},
                                 field.data(),
                                 {half_begin.data(), column.data(), half.data()},
                                 exact_field.data(),
                                 -1.0f,
                                 2.0f};
  const RowBuffer<Symbol> x(rows, n);
  const RowBuffer<float> score(rows, n);
  for (int r = 0; r < rows; ++r) {
    for (int i = 0; i < n; ++i) x.view()[r][i] = static_cast<Symbol>(i * (r + 1) / 3 % 2);
  }
  std::vector<float> room(static_cast<std::size_t>(16 * n));
  std::vector<double> logp(rows);
  for (auto _ : state) {
    ops.sparse_fields(fields, x.view(), score.view(), want_logp ? logp.data() : nullptr,
                      room.data());
    ::benchmark::ClobberMemory();
  }
  count_items(state, rows * n);
}

// The passes over levels; about 100,000 levels in all.
struct LevelsFixture {
  Domain domain;
  float penalty = 1.0f;
  ops::LevelsLaw law;
  std::vector<Symbol> x, y;
  std::vector<float> score, room;

  explicit LevelsFixture(Domain d)
      : domain(std::move(d)),
        law{&domain, 0.5f, &penalty, true, 0},
        x(symbols(domain.dim(), domain.max_levels())),
        y(x),
        score(floats(domain.score_size())),
        room(ops::room_for_levels(domain)) {}
};

Domain domain_of(Domain::Kind kind, int levels) {
  const int dim = std::max(4, 100000 / levels);
  return kind == Domain::Kind::ordered ? Domain::ordered(dim, levels)
                                       : Domain::categorical(dim, levels);
}

void propose_levels(State& state, const ops::Ops& ops, Domain::Kind kind, bool want_log_q) {
  LevelsFixture f(domain_of(kind, static_cast<int>(state.range(0))));
  std::uint64_t step = 0;
  for (auto _ : state) {
    const Stream stream(1, 0, step++, Purpose::propose);
    DoNotOptimize(ops.propose_levels(f.law, f.x.data(), f.score.data(), f.y.data(), stream,
                                     want_log_q, f.room.data()));
  }
  count_items(state, std::int64_t{f.domain.dim()} * state.range(0));
}

void log_q_levels(State& state, const ops::Ops& ops, Domain::Kind kind) {
  LevelsFixture f(domain_of(kind, static_cast<int>(state.range(0))));
  for (auto _ : state) {
    DoNotOptimize(ops.log_q_levels(f.law, f.x.data(), f.score.data(), f.y.data(), f.room.data()));
  }
  count_items(state, std::int64_t{f.domain.dim()} * state.range(0));
}

void philox_block(State& state) {
  const Stream stream(1, 2, 3, Purpose::propose);
  std::uint32_t block = 0;
  for (auto _ : state) DoNotOptimize(stream.block(block++));
  count_items(state, 4);
}

// Four chains that remember nine tenths of their last value, rounded to `levels` levels.
std::vector<double> correlated(std::size_t draws, int levels) {
  std::vector<double> x = uniform_numbers(4 * draws, 0, 1);
  double value = 0;
  for (double& v : x) {
    value = 0.9 * value + 0.1 * v;
    v = std::floor(value * levels);
  }
  return x;
}

template <class Diagnostic>
void diagnostic(State& state, Diagnostic of) {
  const auto draws = static_cast<std::size_t>(state.range(0));
  const auto x = correlated(draws, static_cast<int>(state.range(1)));
  const Chains chains = chains_of({x.data(), 4, static_cast<int>(draws), static_cast<int>(draws)});
  for (auto _ : state) DoNotOptimize(of(chains));
  count_items(state, static_cast<std::int64_t>(x.size()));
}

void exact(State& state) {
  const auto target = lattice(static_cast<int>(state.range(0)));
  for (auto _ : state) DoNotOptimize(exact_answer(*target, 1));
  count_items(state, std::int64_t{1} << (state.range(0) * state.range(0)));
}

void register_level(const std::string& level, const ops::Ops& ops) {
  const auto add = [&](const char* name, auto run) {
    return ::benchmark::RegisterBenchmark((name + ("/" + level)).c_str(), run);
  };
  const auto kinds = {std::pair{"ordered", Domain::Kind::ordered},
                      std::pair{"categorical", Domain::Kind::categorical}};
  add("propose_two_level", [&](State& s) { propose_two_level(s, ops, false); })
      ->Arg(25)
      ->Arg(10000);
  add("propose_two_level_log_q", [&](State& s) { propose_two_level(s, ops, true); })
      ->Arg(25)
      ->Arg(10000);
  add("log_q_two_level", [&](State& s) { log_q_two_level(s, ops); })->Arg(25)->Arg(10000);
  add("lattice", [&](State& s) { lattice_fields(s, ops); })->Arg(5)->Arg(100)->Arg(1000);
  add("sparse_fields", [&](State& s) { sparse_fields(s, ops, false); })->Arg(1000)->Arg(10000);
  add("sparse_fields_logp", [&](State& s) { sparse_fields(s, ops, true); })->Arg(1000)->Arg(10000);
  for (const auto& [kind_name, kind] : kinds) {
    const std::string k = kind_name;
    const auto levels = [](auto* b) { b->Arg(3)->Arg(16)->Arg(30000); };
    levels(add(("propose_levels_" + k).c_str(),
               [&ops, kind = kind](State& s) { propose_levels(s, ops, kind, false); }));
    levels(add(("propose_levels_log_q_" + k).c_str(),
               [&ops, kind = kind](State& s) { propose_levels(s, ops, kind, true); }));
    levels(add(("log_q_levels_" + k).c_str(),
               [&ops, kind = kind](State& s) { log_q_levels(s, ops, kind); }));
  }
}

RegressionRows regression_rows(int rows, int features) {
  const auto x = uniform_numbers(
      static_cast<std::size_t>(rows) * static_cast<std::size_t>(features), -1.7, 1.7);
  const auto y = uniform_numbers(static_cast<std::size_t>(rows), 0, 2);
  RegressionRows data{features, {x.begin(), x.end()}, {}};
  for (const double v : y) data.y.push_back(v < 1 ? 0.0f : 1.0f);
  return data;
}

// One network's log p, and score where wanted: data rows, features, hidden units.
void binary_network(State& state, bool score) {
  const ops::OneBlasThread one_thread;
  const int rows = static_cast<int>(state.range(0)), features = static_cast<int>(state.range(1));
  const BinaryNetwork network(regression_rows(rows, features),
                              {static_cast<int>(state.range(2)), 100, 0});
  const int dim = network.domain().dim();
  const auto x = symbols(dim, 2);
  RowBuffer<float> out(1, dim);
  Scratch scratch;
  double logp = 0;
  for (auto _ : state) {
    network.evaluate({0, 0, scratch}, {x.data(), 1, dim, padded(dim)}, &logp,
                     score ? out.view() : Rows<float>{});
    DoNotOptimize(logp);
  }
  count_items(state, std::int64_t{rows} * features * state.range(2));
}

// The two products that such an evaluation cannot do without.
void binary_network_products(State& state) {
  const ops::OneBlasThread one_thread;
  const int rows = static_cast<int>(state.range(0)), features = static_cast<int>(state.range(1)),
            hidden = static_cast<int>(state.range(2));
  const auto z = floats(rows * features), w = floats(features * hidden);
  std::vector<float> units(static_cast<std::size_t>(rows) * static_cast<std::size_t>(hidden)),
      out(w);
  for (auto _ : state) {
    ops::multiply(rows, hidden, features, z.data(), features, w.data(), hidden, units.data(),
                  hidden);
    ops::transposed_multiply(features, hidden, rows, z.data(), features, units.data(), hidden,
                             out.data(), hidden);
    DoNotOptimize(out.data());
  }
  count_items(state, std::int64_t{rows} * features * hidden);
}

void register_networks() {
  // The sizes of the data sets compas, adult and blog.
  const auto sizes = [](auto* b) {
    b->Args({4887, 13, 500})->Args({29860, 88, 500})->Args({46814, 276, 100});
    b->Unit(::benchmark::kMillisecond);
  };
  sizes(::benchmark::RegisterBenchmark("binary_network_score",
                                       [](State& s) { binary_network(s, true); }));
  sizes(::benchmark::RegisterBenchmark("binary_network_logp",
                                       [](State& s) { binary_network(s, false); }));
  sizes(::benchmark::RegisterBenchmark("binary_network_products", binary_network_products));
}

void register_all() {
  register_networks();
  for (ops::Level level : ops::levels()) register_level(std::string(name(level)), ops::ops(level));
  ::benchmark::RegisterBenchmark("philox_block", philox_block);
  const auto series = [](const char* name, auto of) {
    ::benchmark::RegisterBenchmark(name, [of](State& s) { diagnostic(s, of); })
        ->Args({100000, 2})
        ->Args({100000, 1000000})
        ->Unit(::benchmark::kMillisecond);
  };
  series("ess_bulk", [](const Chains& c) { return ess_bulk(c); });
  series("ess_tail", [](const Chains& c) { return ess_tail(c); });
  series("rhat", [](const Chains& c) { return rhat(c); });
  ::benchmark::RegisterBenchmark("exact_answer", exact)->Arg(4)->Unit(::benchmark::kMillisecond);
}

}  // namespace
}  // namespace saltus::bench

int main(int argc, char** argv) {
  saltus::bench::register_all();
  ::benchmark::Initialize(&argc, argv);
  if (::benchmark::ReportUnrecognizedArguments(argc, argv)) return 64;
  ::benchmark::RunSpecifiedBenchmarks();
  ::benchmark::Shutdown();
}
