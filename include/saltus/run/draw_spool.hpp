// DrawSpool: draws written to a file as rounds end, and read back in blocks. Memory holds one
// round.
//
// The file is a sequence of blocks, one per round: the number of draws (8 bytes), then for every
// chain its states (1 byte an entry, 2 for more than 256 levels), then for every chain logp
// (float64), then for every chain the acceptance probability (float32).
#pragma once

#include <filesystem>
#include <vector>

#include "saltus/core/descriptor.hpp"
#include "saltus/run/draws.hpp"
#include "saltus/run/recorder.hpp"

namespace saltus {

class DrawSpool final : public Recorder, public Draws {
 public:
  // Keeps the given coordinates, or all when the list is empty, in a file at `path`, or in a
  // temporary file without a name when `path` is empty. The file is
  // made with the first draws and must not be there yet; restore() opens that of an earlier run.
  DrawSpool(DrawsInfo info, int dim, int chains, std::vector<int> coordinates,
            const std::filesystem::path& path);
  DrawSpool(DrawSpool&&) = default;
  DrawSpool& operator=(DrawSpool&&) = default;

  void begin_round(std::uint64_t draws) override;
  void record(const Tile& tile, std::span<const StepInfo> info, std::uint64_t draw) override;
  void end_round() override;
  bool wants_logp() const override { return true; }
  std::size_t bytes_per_draw() const override;
  // The merged draws lie in a temporary file without a name.
  void merge(const Recorder& other) override;
  void save(ByteWriter& out) const override;
  void restore(ByteReader& in) override;

  const DrawsInfo& info() const override { return info_; }
  void set_step_size(double step_size) { info_.step_size = step_size; }
  void set_attribute(const std::string& name, const std::string& text) {
    info_.attributes[name] = text;
  }
  int chains() const override { return chains_; }
  std::size_t draws() const override { return draws_; }
  int dim() const override { return static_cast<int>(cols_); }
  // Which coordinate of the model column c is.
  int coordinate(int c) const {
    return coordinates_.empty() ? c : coordinates_[static_cast<std::size_t>(c)];
  }
  void read_states(int chain, std::size_t first, Rows<Symbol> x) const override;
  void read_logp(int chain, std::size_t first, std::span<double> out) const override;
  void read_acceptance(int chain, std::size_t first, std::span<float> out) const override;

  // Gives the draws a name: copies the spool so far to `path`, a file that does not exist yet,
  // and appends there from then on. Writes the last round again if that failed before.
  void keep_at(const std::filesystem::path& path);

 private:
  struct Block {
    std::uint64_t offset, first, draws;
  };
  std::size_t states_bytes(std::uint64_t draws) const { return draws * cols_ * width_; }
  std::uint64_t block_bytes(std::uint64_t draws) const;
  const Block& block_of(std::size_t draw) const;
  template <class F>
  void for_blocks(std::size_t first, std::size_t count, F&& read) const;
  void read_at(std::uint64_t offset, void* to, std::size_t size) const;
  std::uint32_t checksum_of_file() const;
  void copy_to(int file, const std::string& name) const;

  void append(const std::vector<const Draws*>& parts, std::size_t first, std::uint64_t count);

  DrawsInfo info_;
  int chains_;
  std::vector<int> coordinates_;
  std::size_t cols_, width_;
  std::string name_;            // for messages
  std::filesystem::path path_;  // empty: none
  Descriptor file_;             // of a named file: none before the first draws
  std::uint64_t length_ = 0, draws_ = 0;
  std::uint32_t checksum_ = 0;  // of the first length_ bytes
  std::vector<Block> blocks_;

  std::uint64_t room_ = 0;  // draws that fit in the round
  std::vector<std::byte> states_;
  std::vector<double> logp_;
  std::vector<float> acceptance_;
  std::vector<std::uint64_t> made_;  // by chain
};

}  // namespace saltus
