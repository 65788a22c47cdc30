#include "cli/classes.hpp"

#include <algorithm>

namespace saltus::cli {

void ClassColumns::show(const std::vector<int>& shape, const Labels& labels) const {
  cli::show("{:<10} {:>5} {:>11}", "", "class", "probability");
  if (!exact.empty()) cli::show(" {:>9} {:>9}", "exact", "error");
  cli::show(" {:>9} {:>10} {:>7}\n", "MCSE", "ESS", "R-hat");
  for (std::size_t k = 0; k < level.size(); ++k) {
    const bool first = k == 0 || coordinate[k] != coordinate[k - 1];
    const int i = static_cast<int>(coordinate[k]);
    cli::show("{:<10} {:>5} {:>11.5f}", first ? coordinate_label(i, shape, labels) : "",
              level_label(i, static_cast<int>(level[k]), labels), probability[k]);
    if (!exact.empty()) cli::show(" {:>9.5f} {:>+9.5f}", exact[k], probability[k] - exact[k]);
    cli::show(" {:>9} {:>10} {:>7}\n", fixed(mcse[k], 5), rounded(ess[k]), fixed(rhat[k], 4));
  }
}

std::string which_classes(const DrawsInfo& info, const Summaries& all) {
  const int levels = std::ranges::max(info.classes);
  const int listed = most_classes(info, static_cast<int>(all.size()));
  if (levels <= listed) return "";
  return fmt::format("of up to {} classes at a coordinate, the most frequent are diagnosed: {}",
                     count(levels), listed);
}

std::vector<std::size_t> readable(const Summaries& all, std::vector<std::size_t> order) {
  constexpr std::size_t kLines = 60;
  std::size_t lines = 0, fit = 0;
  while (fit < order.size() && lines + all[order[fit]].classes.size() <= kLines) {
    lines += all[order[fit++]].classes.size();
  }
  order.resize(std::min(order.size(), std::max<std::size_t>(1, fit)));
  return order;
}

}  // namespace saltus::cli
