// --watch: what the chains of a run do, in a few lines on the terminal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "saltus/run/recorder.hpp"

namespace saltus::cli {

// Follows log p of every chain, in bounded memory: once there are too many values, every second one
// is dropped. Has no part in checkpoints; what it shows begins anew in a continued run.
class Watch final : public Recorder {
 public:
  void begin(int chains) { chains_.resize(static_cast<std::size_t>(chains)); }

  void record(const Tile& tile, std::span<const StepInfo> info, std::uint64_t draw) override;
  bool wants_logp() const override { return true; }
  void save(ByteWriter&) const override {}
  void restore(ByteReader&) override {}

  // ESS and R-hat of log p so far, and a line for each chain, as far as they fit: its last log p,
  // and where that lies in the range of all.
  std::vector<std::string> lines(std::size_t width, std::size_t height) const;

 private:
  struct Chain {
    std::uint64_t draws = 0, every = 1;
    double last = 0;
    std::vector<double> kept;
  };
  std::string quality() const;
  std::vector<Chain> chains_;
};

}  // namespace saltus::cli
