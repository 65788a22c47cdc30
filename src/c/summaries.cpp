// Summaries of draws that the caller holds, for the C interface.
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "c/handles.hpp"
#include "c/options.hpp"
#include "saltus/diagnose/mixing.hpp"
#include "saltus/diagnose/summary.hpp"
#include "service/result_json.hpp"

namespace saltus::c {
namespace {

// Draws in the caller's memory.
class GivenDraws final : public Draws {
 public:
  GivenDraws(const Domain& domain, int chains, std::uint64_t draws, const void* levels, int width,
             bool by_level, const double* logp = nullptr)
      : levels_(levels),
        logp_(logp),
        width_(width),
        chains_(chains),
        draws_(draws),
        dim_(domain.dim()) {
    if (width != 1 && width != 2)
      throw UsageError("width is " + std::to_string(width) + "; expected 1 or 2 bytes");
    if (chains < 1 || draws < 1) throw UsageError("there are no draws to summarise");
    info_.shape = {dim_};
    info_.levels = domain.max_levels();
    info_.first_value = by_level ? 0 : domain.first_value();
    info_.spacing = by_level ? 1 : domain.spacing();
    if (domain.kind() == Domain::Kind::ordered && !by_level) return;
    if (domain.uniform_levels() > 0) {
      info_.classes = {domain.uniform_levels()};
    } else {
      for (int i = 0; i < dim_; ++i) info_.classes.push_back(domain.levels(i));
    }
  }
  const DrawsInfo& info() const override { return info_; }
  int chains() const override { return chains_; }
  std::size_t draws() const override { return draws_; }
  int dim() const override { return dim_; }
  void read_states(int chain, std::size_t first, Rows<Symbol> x) const override {
    for (int r = 0; r < x.rows; ++r) {
      const std::size_t at =
          (static_cast<std::size_t>(chain) * draws_ + first + static_cast<std::size_t>(r)) *
          static_cast<std::size_t>(dim_);
      if (width_ == 1) {
        std::copy_n(static_cast<const std::uint8_t*>(levels_) + at, dim_, x[r]);
      } else {
        std::copy_n(static_cast<const std::uint16_t*>(levels_) + at, dim_, x[r]);
      }
    }
  }
  void read_logp(int chain, std::size_t first, std::span<double> out) const override {
    if (!logp_) {
      std::ranges::fill(out, NAN);
      return;
    }
    std::copy_n(logp_ + static_cast<std::size_t>(chain) * draws_ + first, out.size(), out.begin());
  }
  void read_acceptance(int, std::size_t, std::span<float> out) const override {
    std::ranges::fill(out, std::numeric_limits<float>::quiet_NaN());
  }

 private:
  DrawsInfo info_;
  const void* levels_;
  const double* logp_;
  int width_, chains_;
  std::size_t draws_;
  int dim_;
};

}  // namespace
}  // namespace saltus::c

using namespace saltus;
using namespace saltus::c;

extern "C" {

int saltus_summarise(const char* domain, int32_t chains, uint64_t draws, const void* levels,
                     int32_t width, int32_t threads, double* mean, double* sd, double* mcse,
                     double* ess_bulk, double* ess_tail, double* rhat) {
  return guarded([&] {
    need(levels, "levels");
    const GivenDraws given(domain_in(domain), chains, draws, levels, width, false);
    const auto all = summarise(given, ess_tail != nullptr, threads);
    const std::pair<double*, double CoordinateSummary::*> columns[] = {
        {mean, &CoordinateSummary::mean},         {sd, &CoordinateSummary::sd},
        {mcse, &CoordinateSummary::mcse},         {ess_bulk, &CoordinateSummary::ess_bulk},
        {ess_tail, &CoordinateSummary::ess_tail}, {rhat, &CoordinateSummary::rhat}};
    for (const auto& [out, of] : columns) {
      for (std::size_t i = 0; out && i < all.size(); ++i) out[i] = all[i].*of;
    }
    return SALTUS_OK;
  });
}

int saltus_summarise_levels(const char* domain, int32_t chains, uint64_t draws, const void* levels,
                            int32_t width, int32_t threads, double* probability, double* mcse,
                            double* ess, double* rhat) {
  return guarded([&] {
    need(levels, "levels"), need(probability, "probability"), need(mcse, "mcse");
    need(ess, "ess"), need(rhat, "rhat");
    const Domain d = domain_in(domain);
    const GivenDraws given(d, chains, draws, levels, width, true);
    const auto all = summarise(given, false, threads);
    std::size_t at = 0;
    const auto put = [&](std::size_t k, double p, double error, double size, double r) {
      probability[k] = p, mcse[k] = error, ess[k] = size, rhat[k] = r;
    };
    for (int i = 0; i < d.dim(); ++i) {
      const CoordinateSummary& s = all[static_cast<std::size_t>(i)];
      const auto count = static_cast<std::size_t>(d.levels(i));
      for (std::size_t k = 0; k < count; ++k)
        put(at + k, s.classes.empty() ? 0 : NAN, NAN, NAN, NAN);
      for (const ClassSummary& c : s.classes) {
        put(at + static_cast<std::size_t>(c.level), c.probability, c.mcse, c.ess, c.rhat);
      }
      if (s.classes.empty()) {  // one level, or two: the index is 0 or 1
        put(at, 1 - s.mean, s.mcse, s.ess_bulk, s.rhat);
        if (count > 1) put(at + 1, s.mean, s.mcse, s.ess_bulk, s.rhat);
      }
      at += count;
    }
    return SALTUS_OK;
  });
}

int saltus_mixing(const char* domain, int32_t chains, uint64_t draws, const void* levels,
                  int32_t width, const double* logp, int32_t threads, char** json) {
  return guarded([&] {
    need(levels, "levels"), need(json, "json");
    const GivenDraws given(domain_in(domain), chains, draws, levels, width, false, logp);
    std::vector<ObservableSummary> observables;
    if (logp) observables = observe(given, {}, Reading::quick);
    Warnings list;
    if (auto w = mixing_warning(summarise(given, false, threads), observables, chains)) {
      list.push_back(*w);
    }
    *json = copied(warnings_json(list).dump());
    return SALTUS_OK;
  });
}
}
