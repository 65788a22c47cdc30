#include "cli/observables.hpp"

#include <algorithm>

#include "cli/options.hpp"
#include "cli/terminal.hpp"

namespace saltus::cli {
namespace {

// "rain = no, grass = wet".
std::string named_state(const BestDraw& best, const Labels& labels) {
  std::string text;
  for (std::size_t i = 0; i < best.state.size(); ++i) {
    const int coordinate = static_cast<int>(i);
    text += (i ? ", " : "") + coordinate_label(coordinate, {}, labels) + " = " +
            level_label(coordinate, best.state[i], labels);
  }
  return text;
}

}  // namespace

void add_observe(CLI::App& command, std::vector<std::string>& observe) {
  add_typed(command, "--observe", observe,
            "Also diagnose this quantity, repeatable: 'mean(x)^2', 'x[0]*x[1]', "
            "'twos = count(x == 2)'",
            "[NAME=]EXPRESSION")
      ->allow_extra_args(false);
}

void show_observables(const std::vector<ObservableSummary>& list) {
  if (list.empty()) return;
  constexpr std::size_t kLeast = 10, kMost = 40;
  std::size_t width = kLeast;
  for (const ObservableSummary& s : list) width = std::max(width, std::min(kMost, s.name.size()));
  show("\n{:<{}} {:>9} {:>9} {:>9} {:>10} {:>7}\n", "", width, "mean", "sd", "MCSE", "ESS",
       "R-hat");
  for (const ObservableSummary& s : list) {
    show("{:<{}} {:>9.5g} {:>9} {:>9} {:>10} {:>7}\n", s.name, width, s.mean, short_number(s.sd),
         short_number(s.mcse), rounded(s.ess), fixed(s.rhat, 4));
  }
}

void show_best(const BestDraw& best, const Labels& labels) {
  constexpr std::size_t kMostShown = 60, kMostNamed = 12;
  show("best state seen: log p {:.6g}, draw {} of chain {}\n", best.logp, count(best.draw),
       best.chain);
  if (!labels.levels.empty() && best.state.size() <= kMostNamed) {
    return show("  {}\n", named_state(best, labels));
  }
  const bool digits = std::ranges::all_of(best.state, [](Symbol level) { return level < 10; });
  if (!digits || best.state.size() > kMostShown) return;
  std::string levels;
  for (const Symbol level : best.state) levels += static_cast<char>('0' + level);
  show("  its levels: {}\n", levels);
}

}  // namespace saltus::cli
