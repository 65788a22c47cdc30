// The draws of one run from files of its parts.
#include <algorithm>

#include "saltus/core/error.hpp"
#include "saltus/io/draw_files.hpp"

namespace saltus {
namespace {

struct PartOfRun {
  std::string path;
  std::unique_ptr<Draws> draws;
  std::int64_t first() const { return draws->info().first_chain; }
  std::int64_t end() const { return first() + draws->chains(); }
};

// Throws DataError unless the parts, in the order of their chains, make up one run.
void check_parts(const std::vector<PartOfRun>& parts) {
  const Draws& one = *parts.front().draws;
  std::int64_t next = 0;
  for (const PartOfRun& part : parts) {
    const DrawsInfo &a = one.info(), &b = part.draws->info();
    const auto refuse = [&](const std::string& why) { throw DataError(part.path + " " + why); };
    if (b.chains_of_run == 0) refuse("does not say which part of a run it holds");
    const bool same = a.chains_of_run == b.chains_of_run && one.dim() == part.draws->dim() &&
                      one.draws() == part.draws->draws() && a.step_size == b.step_size &&
                      a.first_value == b.first_value && a.spacing == b.spacing &&
                      a.classes == b.classes && a.model == b.model && a.sampler == b.sampler;
    if (!same) refuse("is not of the same run as " + parts.front().path);
    if (part.first() < next) refuse("holds chains that another file holds");
    if (part.first() > next) {
      refuse("begins with chain " + std::to_string(part.first()) + ": the part with chain " +
             std::to_string(next) + " is missing");
    }
    next = part.end();
  }
  if (next != one.info().chains_of_run) {
    throw DataError("the part with chain " + std::to_string(next) + " of " +
                    std::to_string(one.info().chains_of_run) + " is missing");
  }
}

class JoinedDraws final : public Draws {
 public:
  explicit JoinedDraws(std::vector<PartOfRun> parts)
      : parts_(std::move(parts)), info_(parts_.front().draws->info()) {
    info_.first_chain = info_.chains_of_run = 0;
    info_.attributes.erase("warnings");  // of the first part alone
    for (const PartOfRun& part : parts_) {
      info_.levels = std::max(info_.levels, part.draws->info().levels);
    }
  }
  const DrawsInfo& info() const override { return info_; }
  int chains() const override { return static_cast<int>(parts_.back().end()); }
  std::size_t draws() const override { return parts_.front().draws->draws(); }
  int dim() const override { return parts_.front().draws->dim(); }
  void read_states(int chain, std::size_t first, Rows<Symbol> x) const override {
    const PartOfRun& part = part_of(chain);
    part.draws->read_states(chain - static_cast<int>(part.first()), first, x);
  }
  void read_logp(int chain, std::size_t first, std::span<double> out) const override {
    const PartOfRun& part = part_of(chain);
    part.draws->read_logp(chain - static_cast<int>(part.first()), first, out);
  }
  void read_acceptance(int chain, std::size_t first, std::span<float> out) const override {
    const PartOfRun& part = part_of(chain);
    part.draws->read_acceptance(chain - static_cast<int>(part.first()), first, out);
  }

 private:
  const PartOfRun& part_of(int chain) const {
    return *std::ranges::upper_bound(parts_, std::int64_t{chain}, {}, &PartOfRun::end);
  }
  std::vector<PartOfRun> parts_;
  DrawsInfo info_;
};

}  // namespace

std::unique_ptr<Draws> open_parts(const std::vector<std::string>& paths) {
  std::vector<PartOfRun> parts;
  for (const std::string& path : paths) parts.push_back({path, open_draws(path)});
  if (parts.empty()) throw UsageError("there are no parts to join");
  std::ranges::sort(parts, {}, &PartOfRun::first);
  check_parts(parts);
  return std::make_unique<JoinedDraws>(std::move(parts));
}

}  // namespace saltus
