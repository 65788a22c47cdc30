// DrawArrays: draws kept in memory, in arrays of its own or of the caller.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "saltus/run/draws.hpp"
#include "saltus/run/recorder.hpp"

namespace saltus {

// Arrays of the caller that draws are written to as they are made. Strides are in entries; all
// zero stands for a dense array, the last index running fastest.
struct CallerArrays {
  std::span<Symbol> states;              // [chain][draw][coordinate]: level indices
  std::array<std::size_t, 3> strides{};  // of chains, draws and coordinates
  std::span<double> logp;                // [chain][draw]; empty: not wanted
  std::array<std::size_t, 2> logp_strides{};
  std::span<std::uint8_t> bytes = {};  // in place of `states`, for up to 256 levels
};

class DrawArrays final : public Recorder, public Draws {
 public:
  // Keeps the given coordinates, or all `dim` when the list is empty, with room for `most` draws
  // of each chain: in `arrays`, where these are given, which must outlive it. Throws UsageError
  // when they are too small.
  DrawArrays(DrawsInfo info, int dim, int chains, std::uint64_t most, std::vector<int> coordinates,
             const CallerArrays& arrays = {});
  DrawArrays(DrawArrays&&) = default;
  DrawArrays& operator=(DrawArrays&&) = default;

  void begin_round(std::uint64_t draws) override;
  void record(const Tile& tile, std::span<const StepInfo> info, std::uint64_t draw) override;
  void end_round() override;
  bool wants_logp() const override { return !arrays_.logp.empty(); }
  // The merged draws lie in arrays of its own.
  void merge(const Recorder& other) override;
  void save(ByteWriter& out) const override;
  void restore(ByteReader& in) override;

  // While it holds, `save` and `restore` leave out what the caller's arrays hold.
  void leave_out_states(bool leave_out) { leaves_out_states_ = leave_out; }

  const DrawsInfo& info() const override { return info_; }
  void set_step_size(double step_size) { info_.step_size = step_size; }
  void set_attribute(const std::string& name, const std::string& text) {
    info_.attributes[name] = text;
  }
  int chains() const override { return chains_; }
  std::size_t draws() const override { return draws_; }
  int dim() const override { return static_cast<int>(cols_); }
  void read_states(int chain, std::size_t first, Rows<Symbol> x) const override;
  // NaN where the caller wanted none.
  void read_logp(int chain, std::size_t first, std::span<double> out) const override;
  void read_acceptance(int chain, std::size_t first, std::span<float> out) const override;

  // All states, by strides(): of the arrays as they are laid out. Empty where they are bytes.
  std::span<const Symbol> states() const { return arrays_.states; }
  std::span<const double> logp() const { return arrays_.logp; }
  const std::array<std::size_t, 3>& strides() const { return arrays_.strides; }

 private:
  std::size_t place(std::size_t chain, std::size_t draw, std::size_t c) const {
    const auto& s = arrays_.strides;
    return chain * s[0] + draw * s[1] + c * s[2];
  }
  Symbol level(std::size_t chain, std::size_t draw, std::size_t c) const {
    const std::size_t at = place(chain, draw, c);
    return arrays_.bytes.empty() ? arrays_.states[at] : arrays_.bytes[at];
  }
  void put(std::size_t chain, std::size_t draw, std::size_t c, Symbol level) {
    const std::size_t at = place(chain, draw, c);
    if (arrays_.bytes.empty()) {
      arrays_.states[at] = level;
    } else {
      arrays_.bytes[at] = static_cast<std::uint8_t>(level);
    }
  }
  double& logp_at(std::size_t chain, std::size_t draw) const {
    return arrays_.logp[chain * arrays_.logp_strides[0] + draw * arrays_.logp_strides[1]];
  }

  DrawsInfo info_;
  int chains_;
  std::vector<int> coordinates_;
  std::size_t cols_;
  std::uint64_t most_, draws_ = 0;
  bool leaves_out_states_ = false;
  std::vector<std::uint64_t> made_;  // in this round, by chain
  std::vector<Symbol> own_states_;
  std::vector<double> own_logp_;
  std::vector<float> acceptance_;  // [chain][draw]
  CallerArrays arrays_;            // or views of its own
};

}  // namespace saltus
