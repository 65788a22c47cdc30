// Gibbs updates of a dense two-level pairwise model, one chain at a time with its fields kept up to
// date: a change costs one pass over a row of the matrix, no change costs nothing. Compiled once
// per instruction set.
#include "ops/gibbs/takes_one.hpp"
#include "ops/ops.hpp"
#include "ops/passes.hpp"
#include "ops/vector.hpp"

namespace saltus::ops::SALTUS_LEVEL_NAMESPACE {
namespace {

// Words first, first + 1, ... (Stream::sequence), from 16 blocks at a time.
class Sequence {
 public:
  Sequence(const Stream& stream, uint32_t first) : stream_(stream), next_(first) {}
  uint32_t next() {
    if (next_ >= end_ || end_ == 0) fill();
    const uint32_t at = next_++ % (4 * kLanes);
    return words_[at % 4][at / 4];
  }

 private:
  void fill() {
    const uint32_t begin = next_ / (4 * kLanes) * (4 * kLanes);
    end_ = begin + 4 * kLanes;
    for (int part = 0; part < kParts; ++part) {
      Word random[4];
      philox((Word)lanes_from_zero() + (begin / 4 + static_cast<uint32_t>(part * kWidth)), stream_,
             random);
      for (int w = 0; w < 4; ++w) store(words_[w] + part * kWidth, random[w]);
    }
  }
  const Stream& stream_;
  uint32_t next_, end_ = 0;
  alignas(64) uint32_t words_[4][kLanes];
};

}  // namespace

uint32_t gibbs_dense(const DenseGibbs& m, Symbol* x, float* score, const int32_t* order, int count,
                     const Stream& stream, uint32_t first_word) {
  const float h = m.spacing;
  const int width = padded(m.matrix.cols);
  Sequence words(stream, first_word);
  uint32_t changed = 0;
  for (int t = 0; t < count; ++t) {
    const int32_t i = order[t];
    const float* weights = m.matrix[i];
    const float l = h * score[i] + h * h * weights[i] * (0.5f - static_cast<float>(x[i]));
    const Symbol drawn = takes_one(splat(l), Word{} + words.next())[0] & 1;
    if (drawn == x[i]) continue;
    const float change = drawn ? h : -h;
    for (int j = 0; j < width; j += kWidth) {
      store(score + j, load<Float>(score + j) + change * load<Float>(weights + j));
    }
    x[i] = drawn;
    ++changed;
  }
  return changed;
}

}  // namespace saltus::ops::SALTUS_LEVEL_NAMESPACE
