#include "io/factors/uai_answers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "io/bytes/words.hpp"
#include "saltus/core/error.hpp"

namespace saltus {

UaiTask uai_task(const std::filesystem::path& file) {
  const std::string ending = lower_cased(file.extension().string());
  if (ending == ".pr") return UaiTask::pr;
  if (ending == ".mar") return UaiTask::mar;
  if (ending == ".mpe") return UaiTask::mpe;
  throw UsageError("the name " + file.string() +
                   " tells no task; expected .PR (log10 Z), .MAR (probabilities of levels) or .MPE "
                   "(the best state)");
}

std::string pr_answer(double log_z) {
  return fmt::format("PR\n{}\n", log_z / std::log(10.0));
}

std::string mar_answer(std::span<const int> levels, std::span<const double> probabilities) {
  std::string text = fmt::format("MAR\n{}", levels.size());
  std::size_t next = 0;
  for (const int count : levels) {
    const auto size = static_cast<std::size_t>(count);
    text += fmt::format(" {} {}", count, fmt::join(probabilities.subspan(next, size), " "));
    next += size;
  }
  return text + "\n";
}

std::string mpe_answer(std::span<const Symbol> state) {
  return fmt::format("MPE\n{}{}{}\n", state.size(), state.empty() ? "" : " ",
                     fmt::join(state, " "));
}

}  // namespace saltus
