#include "saltus/run/batch_means.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "saltus/diagnose/chains.hpp"

namespace saltus {
namespace {

// Bits that change with probability p at each draw: correlation 1 - 2p from draw to draw, so
// n draws are worth n p / (1 - p) independent ones.
class SwitchingBits {
 public:
  SwitchingBits(int chains, int dim, double p, std::uint64_t seed)
      : x_(chains, dim), p_(p), seed_(seed) {}
  Tile next() {
    Tile tile;
    tile.x = x_.view();
    for (int r = 0; r < tile.rows(); ++r) {
      const Stream stream(seed_, static_cast<std::uint32_t>(r), step_, Purpose::check);
      for (int i = 0; i < tile.x.cols; ++i) {
        const double u = stream.uniform(static_cast<std::uint32_t>(i));
        const bool flip = step_ == 0 ? u < 0.5 : u < p_;
        if (flip) tile.x[r][i] ^= 1;
      }
    }
    ++step_;
    return tile;
  }

 private:
  RowBuffer<Symbol> x_;
  double p_;
  std::uint64_t seed_, step_ = 0;
};

TEST(BatchMeans, EffectiveSampleSizeOfAKnownProcess) {
  const int chains = 8, dim = 6, draws = 40000;
  const double p = 0.05, exact = draws * chains * p / (1 - p);
  BatchMeans record(Domain::binary(dim), chains, {0, 1, 2, 3, 4, 5});
  SwitchingBits bits(chains, dim, p, 3);
  for (int t = 0; t < draws; ++t) record.record(bits.next(), {}, 0);
  const auto e = record.estimate();
  EXPECT_EQ(record.draws(), static_cast<std::uint64_t>(draws));
  // 64 or more batches of 8 chains: relative standard error sqrt(2 / 512) for one coordinate, and
  // for six together sqrt(2 / 3072); four of each, and a little bias of batch means.
  for (double ess : e.ess) EXPECT_NEAR(ess / exact, 1, 0.25 + 0.02);
  EXPECT_NEAR(e.ess_of_means / exact, 1, 0.10 + 0.02);
  for (double m : e.mean) EXPECT_NEAR(m, 0.5, 4 * 0.5 / std::sqrt(exact));
  for (double r : e.rhat) EXPECT_LT(r, 1.01);
  // The jackknife's own estimate of the error of log ESS: of the order of sqrt(2 / 3072) = 0.026.
  EXPECT_GT(record.log_ess_error(), 0.008);
  EXPECT_LT(record.log_ess_error(), 0.08);
}

TEST(BatchMeans, ChainsThatDisagreeAreWorthLittle) {
  const int chains = 4;
  BatchMeans record(Domain::binary(2), chains, {0, 1});
  RowBuffer<Symbol> x(chains, 2);
  Tile tile;
  tile.x = x.view();
  for (int t = 0; t < 2000; ++t) {
    for (int r = 0; r < chains; ++r) {
      const Stream stream(1, static_cast<std::uint32_t>(r), static_cast<std::uint64_t>(t),
                          Purpose::check);
      tile.x[r][0] = stream.uniform(0) < (r < 2 ? 0.2 : 0.8);  // two chains here, two there
      tile.x[r][1] = stream.uniform(1) < 0.5;
    }
    record.record(tile, {}, 0);
  }
  const auto e = record.estimate();
  EXPECT_GT(e.rhat[0], 1.3);
  EXPECT_LT(e.ess[0], 20);
  EXPECT_GT(e.ess[1], 4000);
  EXPECT_LT(e.ess_of_means, 50);
}

TEST(BatchMeans, LeavesOutCoordinatesThatNeverChange) {
  BatchMeans record(Domain::spin(3), 2, {0, 2});
  SwitchingBits bits(2, 1, 0.3, 5);
  RowBuffer<Symbol> x(2, 3);
  Tile tile;
  tile.x = x.view();
  for (int t = 0; t < 1000; ++t) {
    const Tile one = bits.next();
    for (int r = 0; r < 2; ++r) tile.x[r][2] = one.x[r][0];
    record.record(tile, {}, 0);
  }
  const auto e = record.estimate();
  EXPECT_EQ(e.mean[0], -1);
  EXPECT_TRUE(std::isnan(e.ess[0]));
  EXPECT_TRUE(std::isnan(e.rhat[0]));
  EXPECT_NEAR(e.ess_of_means, e.ess[1], 1e-9);
}

TEST(BatchMeans, GoesOnAfterSaving) {
  const auto run = [](bool stop) {
    BatchMeans record(Domain::binary(2), 2, {0, 1});
    SwitchingBits bits(2, 2, 0.1, 7);
    for (int t = 0; t < 777; ++t) {
      record.record(bits.next(), {}, 0);
      if (!stop || t != 300) continue;
      ByteWriter out;
      record.save(out);
      BatchMeans other(Domain::binary(2), 2, {0, 1});
      ByteReader in(out.bytes());
      other.restore(in);
      std::swap(record, other);
    }
    return record.estimate();
  };
  EXPECT_EQ(run(true).ess, run(false).ess);
  EXPECT_EQ(run(true).mean, run(false).mean);
}

}  // namespace
}  // namespace saltus
