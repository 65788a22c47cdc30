#include "saltus/run/batch_means.hpp"

#include <algorithm>
#include <cmath>

namespace saltus {

BatchMeans::BatchMeans(const Domain& domain, int chains, std::vector<int> coordinates)
    : first_value_(domain.first_value()),
      spacing_(domain.spacing()),
      coordinates_(std::move(coordinates)),
      chains_(static_cast<std::size_t>(chains)) {
  contiguous_ = true;
  for (std::size_t c = 0; c < coordinates_.size(); ++c) {
    contiguous_ = contiguous_ && coordinates_[c] == static_cast<int>(c);
  }
  for (Chain& c : chains_) {
    c.sums.resize(2 * kBatches * coordinates_.size());
    c.squares.resize(coordinates_.size());
  }
}

void BatchMeans::record(const Tile& tile, std::span<const StepInfo>, std::uint64_t) {
  const std::size_t width = coordinates_.size();
  for (int r = 0; r < tile.rows(); ++r) {
    Chain& c = chains_[tile.first_slot + static_cast<std::size_t>(r)];
    const Symbol* x = tile.x[r];
    double* sum = c.sums.data() + c.batches * width;
    double* square = c.squares.data();
    if (contiguous_) {
      for (std::size_t i = 0; i < width; ++i) {
        const double k = x[i];
        sum[i] += k;
        square[i] += k * k;
      }
    } else {
      for (std::size_t i = 0; i < width; ++i) {
        const double k = x[coordinates_[i]];
        sum[i] += k;
        square[i] += k * k;
      }
    }
    ++c.draws;
    if (++c.in_batch == c.length) end_batch(c);
  }
}

void BatchMeans::end_batch(Chain& c) const {
  const std::size_t width = coordinates_.size();
  c.in_batch = 0;
  if (++c.batches < 2 * kBatches) return;
  for (std::size_t b = 0; b < kBatches; ++b) {
    for (std::size_t i = 0; i < width; ++i) {
      c.sums[b * width + i] = c.sums[2 * b * width + i] + c.sums[(2 * b + 1) * width + i];
    }
  }
  std::fill(c.sums.begin() + static_cast<std::ptrdiff_t>(kBatches * width), c.sums.end(), 0.0);
  c.batches = kBatches;
  c.length *= 2;
}

BatchMeans::Estimate BatchMeans::estimate(int left_out) const {
  const std::size_t width = coordinates_.size();
  const double m = static_cast<double>(chains_.size()) - (left_out < 0 ? 0 : 1);
  const auto n = static_cast<double>(draws());  // of each chain
  const auto length = static_cast<double>(chains_[0].length);
  const auto batches = static_cast<double>(chains_[0].batches);
  Estimate e;
  double variance_sum = 0, error_sum = 0, between_sum = 0, worst_rhat = 0;
  for (std::size_t i = 0; i < width; ++i) {
    double sum = 0, square = 0, means_square = 0, within_batches = 0, within_chains = 0;
    for (std::size_t chain = 0; chain < chains_.size(); ++chain) {
      if (static_cast<int>(chain) == left_out) continue;
      const Chain& c = chains_[chain];
      double total = 0, batch_square = 0, in_batches = 0;
      for (std::size_t b = 0; b <= std::min(c.batches, 2 * kBatches - 1); ++b) {
        const double s = c.sums[b * width + i];
        total += s;
        if (b == c.batches) continue;
        in_batches += s;
        batch_square += s * s;
      }
      const double mean = total / n, batch_mean = in_batches / batches;
      within_batches += (batch_square - batches * batch_mean * batch_mean) / (length * length);
      within_chains += c.squares[i] - n * mean * mean;
      sum += total;
      square += c.squares[i];
      means_square += mean * mean;
    }
    const double mean = sum / (m * n), variance = (square - sum * mean) / (m * n - 1);
    const double error = within_batches / (m * (batches - 1)) / (m * batches);
    const double between = m > 1 ? (means_square - m * mean * mean) / (m - 1) : 0;
    const double w = within_chains / (m * (n - 1));
    double rhat = m > 1 && w > 0 ? std::sqrt((n - 1) / n + between / w) : NAN;
    if (between > 0 && !(w > 0)) rhat = INFINITY;  // chains that stand still in different places
    const bool changed = variance > 0 && batches > 1;
    const double of_mean = rhat > 1.01 ? std::max(error, between / m) : error;
    e.mean.push_back(first_value_ + spacing_ * mean);
    e.ess.push_back(changed && of_mean > 0 ? variance / of_mean : NAN);
    e.rhat.push_back(changed ? rhat : NAN);
    if (!changed) continue;
    variance_sum += variance;
    error_sum += error;
    between_sum += between / m;
    if (rhat > worst_rhat) worst_rhat = rhat;
  }
  const double error = worst_rhat > 1.05 ? std::max(error_sum, between_sum) : error_sum;
  e.ess_of_means = error > 0 ? variance_sum / error : NAN;
  return e;
}

double BatchMeans::log_ess_error() const {
  const auto m = static_cast<double>(chains_.size());
  if (m < 2) return NAN;
  double sum = 0, square = 0;
  for (std::size_t c = 0; c < chains_.size(); ++c) {
    const double l = std::log(estimate(static_cast<int>(c)).ess_of_means);
    sum += l;
    square += l * l;
  }
  return std::sqrt(std::max(0.0, (m - 1) / m * (square - sum * sum / m)));
}

void BatchMeans::merge(const Recorder& other) {
  const auto* from = dynamic_cast<const BatchMeans*>(&other);
  const bool same = from && from->coordinates_ == coordinates_ && from->draws() == draws();
  if (!same) return Recorder::merge(other);
  chains_.insert(chains_.end(), from->chains_.begin(), from->chains_.end());
}

void BatchMeans::save(ByteWriter& out) const {
  out.begin_units();
  for (const Chain& c : chains_) {
    out.put(c.draws, c.length, c.in_batch, c.batches);
    out.put_array(std::span<const double>(c.sums));
    out.put_array(std::span<const double>(c.squares));
    out.end_unit();
  }
  out.end_units();
}

void BatchMeans::restore(ByteReader& in) {
  ByteReader chains = in.units(chains_.size());
  for (Chain& c : chains_) {
    chains.get(c.draws, c.length, c.in_batch, c.batches);
    if (c.batches >= 2 * kBatches || c.length == 0) throw DataError("the batches do not fit");
    chains.get_array(std::span<double>(c.sums));
    chains.get_array(std::span<double>(c.squares));
  }
}

}  // namespace saltus
