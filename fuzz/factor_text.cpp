// Any bytes as a text file of factors or clauses: the first byte chooses the format.
#include "fuzz/problem_model.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace saltus;
  constexpr const char* formats[] = {"uai", "lg", "fg", "cnf", "wcnf"};
  if (size == 0) return 0;
  const std::string format = formats[data[0] % 5];
  ProblemOptions options;
  options.hard = format == "cnf" && data[0] & 64;
  fuzz::read(fuzz::named(format), std::as_bytes(std::span(data + 1, size - 1)), options);
  return 0;
}
