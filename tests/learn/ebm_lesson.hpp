// A small problem of learning a deep energy, for tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fake_network.hpp"
#include "saltus/learn/ebm_learning.hpp"
#include "saltus/sampler/registry.hpp"

namespace saltus {

inline constexpr int kPixels = 12;

// Images of 3 x 4 pixels whose left or right half is on, with noise; learning must find the pairs.
inline RowBuffer<Symbol> halves(int rows, std::uint64_t seed) {
  RowBuffer<Symbol> data(rows, kPixels);
  for (int r = 0; r < rows; ++r) {
    const Stream stream(seed, static_cast<std::uint32_t>(r), 0, Purpose::check);
    const bool right = stream.uniform(0) < 0.5;
    for (int i = 0; i < kPixels; ++i) {
      const bool on = (i % 4 >= 2) == right;
      data.view()[r][i] = stream.uniform(static_cast<std::uint32_t>(1 + i)) < 0.1 ? !on : on;
    }
  }
  return data;
}

inline ByteRows as_bytes(Rows<const Symbol> rows, int one = 1) {
  ByteRows bytes{rows.cols, {}};
  for (int r = 0; r < rows.rows; ++r) {
    for (const Symbol x : rows.row(r)) bytes.bytes.push_back(static_cast<std::uint8_t>(x * one));
  }
  return bytes;
}

inline ImageSet small_images(bool grey) {
  ImageSet images;
  images.name = "halves", images.height = 3, images.width = 4, images.grey = grey;
  images.train = as_bytes(halves(300, 1).view(), grey ? 255 : 1);
  images.valid = as_bytes(halves(200, 2).view(), grey ? 255 : 1);
  return images;
}

// A whole small problem.
struct Lesson {
  ImageSet images;
  RowBuffer<Symbol> valid = halves(200, 2);
  std::vector<double> mean;
  FakeNetwork network;
  std::unique_ptr<EbmLearning> learning;

  static EbmPlan small_plan() {
    EbmPlan plan;
    plan.batch = 20, plan.buffer = 200, plan.steps = 5;
    plan.rate = 0.02, plan.rate_warmup = 50, plan.iterations = 400;
    plan.validate_every = 100, plan.validation_betas = 200, plan.validation_chains = 50;
    plan.record_every = 10, plan.seed = 11, plan.threads = 2;
    return plan;
  }

  explicit Lesson(const EbmPlan& plan = small_plan(), bool grey = false,
                  const std::string& sampler = "dmala",
                  const Settings& settings = {{"step_size", "0.3"}})
      : images(small_images(grey)), mean(base_mean(images, plan.seed)), network(mean) {
    const Target& target = network.target();
    learning =
        std::make_unique<EbmLearning>(network, Independent::bernoulli(target.domain(), mean),
                                      images, make_sampler(sampler, target, settings),
                                      make_sampler("dmala", target, {{"step_size", "0.3"}}), plan);
  }

  // Until everything is done, or so many iterations.
  void go(std::uint64_t until = ~std::uint64_t{0}) {
    while (!learning->done()) {
      if (learning->validation_due()) {
        learning->validate();
      } else if (learning->iteration() < until) {
        learning->step();
      } else {
        return;
      }
    }
  }
};

}  // namespace saltus
