#include "saltus/sampler/gibbs.hpp"

#include <algorithm>

#include "saltus/core/error.hpp"
#include "saltus/sampler/settings.hpp"
#include "sampler/entries.hpp"
#include "sampler/gibbs/hamming_ball_draw.hpp"
#include "sampler/gibbs/scan.hpp"

namespace saltus {
namespace {

using Order = GibbsOptions::Scan;

const std::vector<std::string> kScans = {"permutation", "systematic", "random", "colours"};

void check_colours(const GibbsOptions& options) {
  if (options.block != 1) {
    throw UsageError("scan=colours draws single coordinates: leave out block");
  }
  if (options.updates != 0) {
    throw UsageError("scan=colours draws every coordinate once a step: updates must be 'sweep'");
  }
}

std::unique_ptr<Sampler> make_gibbs(const Target& target, const Settings& settings) {
  GibbsOptions options;
  options.block = integer_setting(settings, "block").value_or(1);
  // Sweeps where a conditional costs little; most kernels on a device draw one coordinate a step.
  const bool sweeps =
      target.local_moves() && (!target.on_device() || target.on_device()->sweeps_there());
  const bool whole = sweeps || find_setting(settings, "scan") == "colours";
  const std::string updates = find_setting(settings, "updates").value_or(whole ? "sweep" : "1");
  options.updates = updates == "sweep" ? 0 : integer_setting(settings, "updates").value_or(1);
  const GibbsSweeps* groups = sweeps && options.block == 1 ? target.gibbs_sweeps() : nullptr;
  const bool colours = options.updates == 0 && groups && groups->groups() > 0;
  options.scan = find_setting(settings, "scan")
                     ? static_cast<Order>(choice_setting(settings, "scan", kScans))
                     : (colours ? Order::colours : Order::permutation);
  return std::make_unique<Gibbs>(target, options);
}

}  // namespace

Gibbs::Gibbs(const Target& target, GibbsOptions options) : options_(options) {
  const Domain& domain = target.domain();
  if (options_.block < 1) throw UsageError("block must be at least 1");
  if (options_.updates < 0) throw UsageError("updates must be at least 1");
  if (by_colours()) check_colours(options_);
  options_.block = std::min(options_.block, domain.dim());
  updates_ = options_.updates ? options_.updates : scan_of(options_, domain).blocks();
  if (!missing(target).empty()) return;  // refused by those who would use it
  const std::optional<int> largest = largest_ball(domain, options_.block, options_.block);
  if (!largest) {
    throw UsageError("a block of " + std::to_string(options_.block) +
                     " coordinates has more than " + std::to_string(kMostInBall) +
                     " combinations of levels; take a smaller block");
  }
  largest_ = *largest;
  if (by_colours() && !knows_groups(target))
    colours_ = in_colours(*target.local_moves(), domain.dim());
}

std::vector<Parameter> Gibbs::parameters() const {
  std::vector<Parameter> list{{"block", std::int64_t{options_.block}},
                              {"scan", kScans[static_cast<std::size_t>(options_.scan)]}};
  if (options_.updates) {
    list.push_back({"updates", std::int64_t{options_.updates}});
  } else {
    list.push_back({"updates", "sweep"});
  }
  return list;
}

// The target's own sweeps, where they can serve and are worth their start: single coordinates, in
// an order that all chains share, and at least half of them in a step.
const GibbsSweeps* Gibbs::sweeps_of(const Target& target) const {
  const bool serves = options_.block == 1 && options_.scan != Order::random;
  return serves && updates_ >= (target.domain().dim() + 1) / 2 ? target.gibbs_sweeps() : nullptr;
}

std::string Gibbs::missing(const Target& target) const {
  std::string lacks = missing_for_blocks(target);
  if (!lacks.empty() || !by_colours() || target.local_moves()) return lacks;
  return "local moves, from which the groups follow (scan=colours)";
}

Sampler::Needs Gibbs::needs(const Target& target) const {
  return sweeps_of(target) ? Needs{false, false, false} : BallDraws::needs(target);
}

bool Gibbs::accumulates_rounding(const Target& target) const {
  return !sweeps_of(target) && BallDraws::accumulates_rounding(target);
}

void Gibbs::step(const Target& target, Tile& tile, Workspace& work,
                 std::span<StepInfo> info) const {
  if (const GibbsSweeps* sweeps = sweeps_of(target))
    return sweep(target, *sweeps, tile, work, info);
  const Scan scan = scan_of(options_, target.domain());
  const int length = options_.block;
  BallDraws draws(target, tile, work, info, length, length, largest_);
  for (int u = 0; u < updates_; ++u) {
    if (by_colours()) {
      draws.draw({colours_.data() + u, 1, 0}, static_cast<std::uint32_t>(u));
    } else if (scan.shared()) {
      const auto block = scan.block(work.seed, first_update(tile.step) + static_cast<unsigned>(u),
                                    work.sampler_scratch);
      draws.draw({block.data(), static_cast<int>(block.size()), 0}, static_cast<std::uint32_t>(u));
    } else {
      std::int32_t* own_blocks = draws.room_for_blocks();
      for (int r = 0; r < tile.rows(); ++r) {
        scan.draw(work.stream(tile, r, Purpose::scan), static_cast<std::uint32_t>(u * length),
                  own_blocks + r * length);
      }
      draws.draw({own_blocks, length, length}, static_cast<std::uint32_t>(u));
    }
  }
  // Updates between two evaluations: about as many as one costs.
  const int period = std::max(256, target.domain().dim()) / updates_;
  draws.finish(static_cast<std::uint64_t>(std::max(16, period)));
}

void Gibbs::sweep(const Target& target, const GibbsSweeps& sweeps, Tile& tile, Workspace& work,
                  std::span<StepInfo> info) const {
  const auto rows = static_cast<std::size_t>(tile.rows());
  const auto dim = static_cast<std::uint64_t>(target.domain().dim());
  auto* changed = work.sampler_scratch.get<std::uint32_t>(0, rows);
  std::fill_n(changed, rows, 0u);
  GibbsSweeps::Draws draws{work.seed, tile.step, tile.first_chain, 0};
  const At at = work.at(tile.step);
  if (by_colours() && sweeps.groups() > 0) {
    for (int g = 0; g < sweeps.groups(); ++g) {
      draws.first_word =
          static_cast<std::uint32_t>(g) * static_cast<std::uint32_t>(padded(tile.x.cols));
      sweeps.update_group(at, tile.x, g, draws, changed);
    }
  } else if (by_colours()) {
    sweeps.update(at, tile.x, colours_, draws, changed);
  } else {
    const Scan scan = scan_of(options_, target.domain());
    const std::uint64_t end = first_update(tile.step + 1);
    for (std::uint64_t u = first_update(tile.step); u < end;) {  // pass by pass
      const std::uint64_t count = std::min(end - u, dim - u % dim);
      sweeps.update(at, tile.x,
                    scan.order(work.seed, u / dim, work.sampler_scratch).subspan(u % dim, count),
                    draws, changed);
      draws.first_word += static_cast<std::uint32_t>(count);
      u += count;
    }
  }
  work.evaluations.local += rows * static_cast<std::uint64_t>(updates_);
  for (std::size_t r = 0; r < rows; ++r) {
    info[r] = {1.0, static_cast<std::uint32_t>(updates_), changed[r], true, false};
  }
  ++tile.step;
  tile.score_current = tile.target_cache_current = false;
  tile.logp_current = work.want_logp;
  if (!work.want_logp) return;
  target.evaluate(work.at(tile.step), tile.x, tile.logp, {});
  work.evaluations.logp += rows;
}

SamplerEntry gibbs_entry() {
  return {"gibbs",
          "draws single coordinates or blocks from their conditional distributions: exact",
          {"block", "scan", "updates"},
          make_gibbs};
}

}  // namespace saltus
