// DMALA and DULA by name.
#include "saltus/core/error.hpp"
#include "saltus/sampler/dlp.hpp"
#include "saltus/sampler/settings.hpp"
#include "sampler/entries.hpp"

namespace saltus {
namespace {

const std::vector<std::string> kParameters = {"step_size", "adapt", "precondition", "distance",
                                              "window"};

std::unique_ptr<Sampler> make_dlp(const Target& target, const Settings& settings, bool adjust) {
  DlpOptions options;
  options.adjust = adjust;
  options.step_size = number_setting(settings, "step_size");
  options.adapt = switch_setting(settings, "adapt");
  options.precondition = list_setting(settings, "precondition");
  options.window = integer_setting(settings, "window").value_or(0);
  options.distance = choice_setting(settings, "distance", {"index", "value"}) == 0
                         ? DlpOptions::Distance::index
                         : DlpOptions::Distance::value;
  return std::make_unique<Dlp>(target.domain(), std::move(options));
}

}  // namespace

SamplerEntry dmala_entry() {
  return {"dmala", "discrete Langevin proposal with the Metropolis test: exact", kParameters,
          [](const Target& t, const Settings& s) { return make_dlp(t, s, true); }};
}

SamplerEntry dula_entry() {
  return {"dula",
          "discrete Langevin proposal, unadjusted: faster, with a bias that grows with step_size",
          kParameters, [](const Target& t, const Settings& s) { return make_dlp(t, s, false); }};
}

}  // namespace saltus
