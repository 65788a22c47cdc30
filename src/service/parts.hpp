// Parts of services in files of their own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "saltus/core/bytes.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/exact.hpp"
#include "saltus/sample.hpp"
#include "saltus/target/constrained.hpp"

namespace saltus {

// Text as bytes, for the members of a team.
inline void put_text(ByteWriter& out, const std::string& text) {
  out.put_array(std::span<const char>(text));
}
inline std::string get_text(ByteReader& in) {
  std::string text(in.next_array_length(1), ' ');
  in.get_array(std::span<char>(text));
  return text;
}

// What a checkpoint says of the run that it holds: JSON.
std::string describe_sample(const SampleRequest& request);

// What speaks against the draws.
Warnings sample_warnings(const SampleResult& result);
// What speaks against the ladder of a tempered run.
Warnings tempering_warnings(const TemperingReport& report);

// Nothing where the draws are tempered or too few, or where the target cannot be annealed.
std::optional<ModeProbe> probe_modes(const SampleRequest& request, const SampleResult& result);

// The largest distance of a class probability of watched coordinate k from the exact one, in
// standard errors; less where these come from fewer than `enough` effective draws. The result has
// an exact answer and classes.
double worst_class_error(const SampleResult& result, std::size_t k, double enough);

// State evaluations times coordinates up to which exact answers are computed beside estimates.
inline constexpr double kExactWork = 1e9;

// The exact answer, where it takes about a second at most, by going through all states or by
// elimination: nothing where the model is too large, or has no exact answer.
inline std::optional<ExactAnswer> affordable_exact_answer(const Target& target, int threads) {
  const Domain& domain = target.domain();
  if (target.stochastic() || domain.unbounded()) return std::nullopt;
  if (count_states(target, static_cast<std::uint64_t>(kExactWork / domain.dim()))) {
    return exact_answer(target, threads);
  }
  return quick_elimination(target);
}

}  // namespace saltus
