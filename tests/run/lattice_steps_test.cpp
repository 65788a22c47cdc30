// The steps that the GPU makes on Ising lattices, made by teams of threads of the host: the same
// draws as the samplers'.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "cuda/lattice/gibbs.hpp"
#include "lattice_team.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/run/ensemble.hpp"
#include "saltus/sampler/dlp.hpp"
#include "saltus/sampler/gibbs.hpp"
#include "saltus/target/ising_lattice.hpp"

namespace saltus {
namespace {

using namespace cuda;

constexpr int kChains = 2, kSteps = 12;
constexpr std::uint64_t kSeed = 91, kFirst = (std::uint64_t{3} << 32) + 11;
constexpr std::uint32_t kFirstChain = 7;

struct Lattice {
  int rows, cols;
  bool periodic;
  double a, b;
};

// Teams of threads: all threads with `own` words each; blocks of them; a thread to a site; and one
// to a chain.
struct Layout {
  int own, threads;
  bool aligned = false;
  int blocks = 1;
};
constexpr Layout kSites{0, 32}, kEightSites{0, 8}, kLone{0, 1};

struct Steps final : StepObserver {
  std::vector<std::vector<Symbol>> states[kChains];
  std::vector<StepInfo> info[kChains];
  std::vector<double> logp[kChains];
  bool wants_logp(std::uint64_t) const override { return true; }
  void after_step(const Tile& tile, std::span<const StepInfo> of, std::uint64_t) override {
    for (int r = 0; r < tile.rows(); ++r) {
      states[r].emplace_back(tile.x[r], tile.x[r] + tile.x.cols);
      logp[r].push_back(tile.logp[r]);
      info[r].push_back(of[static_cast<std::size_t>(r)]);
    }
  }
};

// The memory of a block of steps, here.
struct Block {
  std::vector<std::uint32_t> states, kept;
  std::vector<std::int32_t> ends, places;
  std::vector<LatticeRecord> records;
  LatticeSteps steps;

  Block(const LatticeShape& shape, const LatticeLaw& law, int parts, int every)
      : states(words(shape)),
        kept(states.size() * static_cast<std::size_t>(parts)),
        records(static_cast<std::size_t>(parts * kChains)),
        steps{shape,         law,   kSeed,   kFirst,         kFirstChain, kChains,
              states.data(), parts, nullptr, records.data(), nullptr,     kept.data()} {
    for (int p = 0; p < parts; ++p) ends.push_back(every * (p + 1)), places.push_back(p);
    steps.ends = ends.data(), steps.places = places.data();
  }
  static std::size_t words(const LatticeShape& shape) {
    return static_cast<std::size_t>(shape.words * kChains);
  }
  void put(int chain, const Symbol* x) {
    for (int i = 0; i < steps.shape.sites; ++i) {
      if (x[i]) steps.state(chain)[i / 32] |= 1u << i % 32;
    }
  }
  std::vector<Symbol> get(int part, int chain) const {
    std::vector<Symbol> x;
    for (int i = 0; i < steps.shape.sites; ++i) {
      x.push_back(static_cast<Symbol>(steps.place(part, chain)[i / 32] >> i % 32 & 1));
    }
    return x;
  }
};

template <class Kind>
void run_lone(const LatticeSteps& steps, LatticeSampler sampler) {
  using Team = ThreadTeam<1>;
  typename Team::Memory memory(1);
  std::vector<std::uint32_t> table;
  for (int k = 0; k < 32 * Kind::kCodes; ++k) table.push_back(steps.law.minus_threshold[k / 32]);
  for (int r = 0; r < kChains; ++r) {
    LoneLangevinLattice<Kind, Team> chain(Team(memory, 0), steps, table.data(), r);
    sampler == LatticeSampler::dmala ? chain.template advance<true>()
                                     : chain.template advance<false>();
  }
}

template <class Kind, int kSites>
void run_small(const LatticeSteps& steps, LatticeSampler sampler) {
  using Team = ThreadTeam<kSites>;
  typename Team::Memory memory(kSites);
  std::vector<SiteEntry> table;
  for (int c = 0; c < Kind::kCodes; ++c) table.push_back(SiteEntry::of(steps.law, c));
  with_threads<Team>(memory, [&](const Team& team) {
    for (int r = 0; r < kChains; ++r) {
      if constexpr (Kind::kField) {
        if (sampler == LatticeSampler::gibbs) {
          SmallGibbsLattice<Kind, Team>(team, steps, table.data(), r).advance();
          continue;
        }
      }
      SmallLangevinLattice<Kind, Team> chain(team, steps, table.data(), r);
      sampler == LatticeSampler::dmala ? chain.template advance<true>()
                                       : chain.template advance<false>();
    }
  });
}

template <class Kind, int kOwn, bool kAligned, int kBlocks>
void run_large(const LatticeSteps& steps, LatticeSampler sampler, int threads) {
  using Team = ThreadTeam<4, kBlocks>;
  typename Team::Memory memory(threads);
  for (auto& of_block : memory.shared) {
    of_block.assign(LatticeMemory::bytes<Kind>(steps.shape) / 8 + 1, -1);
  }
  with_threads<Team>(memory, [&](const Team& team) {
    const LatticeMemory shared = LatticeMemory::in<Kind>(team.shared());
    for (int r = 0; r < kChains; ++r) {
      if constexpr (Kind::kField) {
        if (sampler == LatticeSampler::gibbs) {
          GibbsLattice<Kind, kOwn, kAligned, Team>(team, steps, shared, r).advance();
          continue;
        }
      }
      LangevinLattice<Kind, kOwn, kAligned, Team> chain(team, steps, shared, r);
      sampler == LatticeSampler::dmala ? chain.template advance<true>()
                                       : chain.template advance<false>();
    }
  });
}

void run(const LatticeSteps& steps, bool field, LatticeSampler sampler, const Layout& layout) {
  with_kind(steps.shape, field, [&](auto kind) {
    using Kind = decltype(kind);
    if (layout.threads == 1) return run_lone<Kind>(steps, sampler);
    if (layout.own == 0) {
      return layout.threads == 8 ? run_small<Kind, 8>(steps, sampler)
                                 : run_small<Kind, 32>(steps, sampler);
    }
    if constexpr (Kind::kFour) {
      if (layout.blocks == 2) return run_large<Kind, 2, true, 2>(steps, sampler, layout.threads);
      if (layout.aligned) return run_large<Kind, 4, true, 1>(steps, sampler, layout.threads);
    }
    if (layout.own == 1) return run_large<Kind, 1, false, 1>(steps, sampler, layout.threads);
    run_large<Kind, 4, false, 1>(steps, sampler, layout.threads);
  });
}

std::unique_ptr<Dlp> langevin(const Domain& domain, bool adjust, double step_size) {
  DlpOptions options;
  options.adjust = adjust;
  options.step_size = step_size;
  return std::make_unique<Dlp>(domain, options);
}

const char* name_of(LatticeSampler sampler) {
  return sampler == LatticeSampler::dmala  ? "dmala"
         : sampler == LatticeSampler::dula ? "dula"
                                           : "gibbs";
}

void compare(const Lattice& l, const Layout& layout, LatticeSampler kind, double step_size,
             double beta, int every) {
  SCOPED_TRACE(std::to_string(l.rows) + " x " + std::to_string(l.cols) +
               (l.periodic ? ", periodic" : "") + ", b " + std::to_string(l.b) + ", " +
               std::to_string(layout.own) + " words a thread, " + name_of(kind) + ", beta " +
               std::to_string(beta));
  const IsingLattice target(l.rows, l.cols, l.periodic, l.a, l.b);
  const bool adjust = kind == LatticeSampler::dmala, gibbs = kind == LatticeSampler::gibbs;
  if (gibbs && (target.groups() == 0 || layout.threads == 1))
    return;  // an odd ring: no two colours
  LatticeParameters law_of{kind, l.a, l.b, 0, beta};
  std::unique_ptr<Sampler> sampler;
  if (gibbs) {
    sampler = std::make_unique<Gibbs>(
        target, GibbsOptions{.scan = GibbsOptions::Scan::colours, .updates = 0});
  } else {
    auto dlp = langevin(target.domain(), adjust, step_size);
    law_of.penalty = dlp->penalty()[0];
    sampler = std::move(dlp);
  }
  const auto base = std::make_shared<const Independent>(Independent::uniform(target.domain()));
  Ensemble ensemble({{&target, kChains, beta == 1 ? nullptr : base, beta}},
                    {kSeed, 1, kChains, kFirstChain});
  ensemble.start_random();
  const int dim = target.domain().dim();
  RowBuffer<Symbol> start(kChains, dim);
  for (int r = 0; r < kChains; ++r) std::copy_n(ensemble.state(r), dim, start.view()[r]);
  ensemble.start_from(start.view(), kFirst);
  ensemble.evaluate();
  Steps expected;
  ensemble.advance(*sampler, kSteps, expected);

  const LatticeShape shape(l.rows, l.cols, l.periodic);
  const LatticeLaw law = lattice_law(shape, law_of);
  Block block(shape, law, kSteps / every, every);
  for (int r = 0; r < kChains; ++r) block.put(r, start.view()[r]);
  run(block.steps, law_of.field(), kind, layout);

  int accepted = 0;
  for (int r = 0; r < kChains; ++r) {
    for (int part = 0; part < kSteps / every; ++part) {
      const auto last = static_cast<std::size_t>(every * (part + 1) - 1);
      const LatticeRecord& record = block.steps.record(part, r);
      ASSERT_EQ(block.get(part, r), expected.states[r][last]) << "chain " << r << " part " << part;
      StepInfo sums{0, 0, 0, false, false};
      std::uint32_t taken = 0, empty = 0, moved = 0;
      for (int k = every * part; k < every * (part + 1); ++k) {
        const StepInfo& one = expected.info[r][static_cast<std::size_t>(k)];
        sums.acceptance += one.acceptance;
        sums.proposed += one.proposed, sums.changed += one.changed;
        taken += one.accepted, empty += one.proposed == 0, moved += one.changed > 0;
      }
      ASSERT_EQ(record.changed, sums.changed);
      ASSERT_EQ(record.moved, moved);
      if (!gibbs) {
        ASSERT_EQ(record.proposed, sums.proposed);
        ASSERT_EQ(record.accepted, taken);
        ASSERT_EQ(record.empty, empty);
      }
      if (adjust) {
        ASSERT_NEAR(static_cast<double>(record.acceptance) / kAcceptanceUnit, sums.acceptance,
                    1e-4 * every);
      }
      double logp = l.a * record.pairs + l.b * record.spins;
      if (beta != 1) logp = Tempering{beta}.logp(logp, -dim * std::log(2.0));
      ASSERT_NEAR(logp, expected.logp[r][last], 1e-9 * dim);
      accepted += static_cast<int>(taken);
    }
  }
  EXPECT_GT(accepted, 0);
}

TEST(LatticeSteps, AreThoseOfTheSamplers) {
  struct Case {
    Lattice lattice;
    Layout layout;
    double step_size;
  };
  const std::vector<Case> cases = {
      {{7, 13, true, 0.15, 0.1}, {1, 4}, 0.3},  // 91 sites
      {{7, 13, false, 0.15, 0}, {1, 8}, 0.3},
      {{6, 50, true, 0.2, 0}, {1, 12}, 0.2},  // ten words, the last one not whole
      {{9, 64, true, 0.1, 0.05}, {4, 8, true}, 0.2},
      {{16, 32, true, 0.1, 0}, {4, 4, true}, 0.2},
      {{16, 64, true, 0.1, 0}, {2, 16, true, 2}, 0.2},
      {{5, 128, true, 0.1, 0.1}, {2, 16, true, 2}, 0.2},  // half of the words end within a row
      {{21, 33, false, 0.1, 0.1}, {4, 8}, 0.2},
      {{70, 1, false, 0.3, 0}, {1, 4}, 0.4},
      {{2, 40, true, 0.3, 0.1}, {1, 4}, 0.4},  // two rows: one edge between them
      {{5, 9, true, 0.5, 0.3}, {1, 4}, 3},     // flips that are likelier than not
      {{6, 10, true, 4, 0.3}, {1, 4}, 1},      // probabilities of 0 and 1
      {{5, 5, true, 0.1, 0.2}, kSites, 0.4},
      {{4, 8, false, 0.2, 0}, kSites, 0.4},
      {{2, 3, true, 0.2, 0.1}, kEightSites, 0.5},
      {{1, 8, true, 0.2, 0}, kEightSites, 0.5},
      {{1, 1, false, 0.2, 0.1}, kEightSites, 0.5},
      {{5, 5, true, 0.1, 0.2}, kLone, 0.4},
      {{5, 5, true, 0.1, 0}, kLone, 0.4},
      {{4, 8, false, 0.2, 0.1}, kLone, 0.4},
      {{1, 31, true, 0.2, 0}, kLone, 0.4},
      {{3, 3, true, 0.5, 0.1}, kLone, 2},
  };
  for (const Case& c : cases) {
    for (const auto sampler :
         {LatticeSampler::dmala, LatticeSampler::dula, LatticeSampler::gibbs}) {
      for (const int every : {1, 6}) {
        compare(c.lattice, c.layout, sampler, c.step_size, every == 1 ? 1 : 0.6, every);
      }
    }
  }
}

// The law that the tables of integers amount to: the probabilities that a state, its sites as bits,
// flips each of its sites, and F.
template <class Kind>
double law_of(const LatticeShape& shape, const LatticeLaw& law, std::uint32_t x,
              std::vector<double>& flips) {
  const Edges edges = edges_of(shape, 0);
  const Codes<Kind> codes = codes_of<Kind>(neighbours_up(shape, edges, x), edges.missing, x);
  double sum = 0;
  flips.clear();
  for (int i = 0; i < shape.sites; ++i) {
    std::uint32_t code = 0;
    for (int b = 0; b < Kind::kPlanes; ++b) code |= (codes.plane[b] >> i & 1) << b;
    const double unlikely = static_cast<double>(0u - law.minus_threshold[code]) * 0x1p-32;
    flips.push_back(law.inverted >> code & 1 ? 1 - unlikely : unlikely);
    sum += static_cast<double>(law.softplus[code]) / law.scale;
  }
  return sum;
}

void compare_with_matrix(const Lattice& l, double step_size) {
  SCOPED_TRACE(std::to_string(l.rows) + " x " + std::to_string(l.cols));
  const IsingLattice target(l.rows, l.cols, l.periodic, l.a, l.b);
  const auto sampler = langevin(target.domain(), true, step_size);
  const StateTable table(target);
  const auto size = static_cast<int>(table.size());
  const RowBuffer<double> matrix(size, size);
  std::vector<double> acceptance(table.size());
  sampler->transition_matrix(table, {}, matrix.view(), acceptance);

  const LatticeShape shape(l.rows, l.cols, l.periodic);
  const LatticeLaw law =
      lattice_law(shape, {LatticeSampler::dmala, l.a, l.b, sampler->penalty()[0], 1});
  std::vector<std::uint32_t> bits(table.size());
  std::vector<std::vector<double>> flips(table.size());
  std::vector<double> sum(table.size());
  for (std::size_t s = 0; s < table.size(); ++s) {
    for (int i = 0; i < shape.sites; ++i) bits[s] |= std::uint32_t{table.state(s)[i]} << i;
    sum[s] = with_kind(shape, l.b != 0, [&](auto kind) {
      return law_of<decltype(kind)>(shape, law, bits[s], flips[s]);
    });
  }
  for (int x = 0; x < size; ++x) {
    const auto from = static_cast<std::size_t>(x);
    for (int y = 0; y < size; ++y) {
      if (x == y) continue;
      const auto to = static_cast<std::size_t>(y);
      double q = 1;
      for (int i = 0; i < shape.sites; ++i) {
        const double p = flips[from][static_cast<std::size_t>(i)];
        q *= (bits[from] ^ bits[to]) >> i & 1 ? p : 1 - p;
      }
      ASSERT_NEAR(q * std::min(1.0, std::exp(sum[from] - sum[to])), matrix.view()[x][y], 1e-7);
    }
  }
}

// Only the host's ratio of the Metropolis test is rounded: docs/gpu.md says how much.
TEST(LatticeSteps, HaveARatioThatTheHostRounds) {
  struct Ratios final : StepObserver {
    explicit Ratios(const IsingLattice& of, double p) : target(of), penalty(p) {}
    const IsingLattice& target;
    double penalty, before = NAN, error = 0;
    int steps = 0;
    bool wants_logp(std::uint64_t) const override { return false; }
    void after_step(const Tile& tile, std::span<const StepInfo> info, std::uint64_t) override {
      double sum = 0;
      std::array<std::int32_t, 4> room{};
      for (int i = 0; i < tile.x.cols; ++i) {
        int near = 0;
        for (const auto j : target.neighbours(i, room.data())) near += 2 * tile.x[0][j] - 1;
        const double score = 2 * target.model().a * near + target.model().b;
        sum += softplus(flip_logit(1, tile.x[0][i], score, penalty));
      }
      // Of steps that were accepted both ends are known, and below 1 the ratio.
      if (!std::isnan(before) && info[0].accepted && info[0].acceptance < 1) {
        error += std::abs(std::log(info[0].acceptance) - (before - sum));
        ++steps;
      }
      before = sum;
    }
  };
  const IsingLattice target(100, 100, true, 0.1, 0);
  const auto sampler = langevin(target.domain(), true, 0.15);
  Ensemble ensemble(target, 1, 0, 1, kSeed);
  ensemble.start_random();
  ensemble.evaluate();
  Ratios ratios(target, sampler->penalty()[0]);
  ensemble.advance(*sampler, 400, ratios);
  EXPECT_GT(ratios.steps, 50);
  EXPECT_LT(ratios.error / ratios.steps, 2e-5);
}

TEST(LatticeSteps, FollowTheTransitionMatrix) {
  compare_with_matrix({2, 3, true, 0.2, 0.3}, 0.5);
  compare_with_matrix({2, 3, false, -0.4, 0}, 2);
  compare_with_matrix({3, 3, true, 0.3, 0.2}, 0.7);
  compare_with_matrix({3, 3, true, 0.3, 0}, 0.7);
}

}  // namespace
}  // namespace saltus
