// Any bytes as a text file of a problem: the first byte chooses the format and its options.
#include "fuzz/problem_model.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace saltus;
  constexpr const char* formats[] = {"rudy", "bq", "qubo", "coo", "isakov", "dimacs"};
  constexpr const char* problems[] = {"max-cut", "mis", "max-clique", "colouring"};
  if (size == 0) return 0;
  const std::string format = formats[data[0] % 6];
  ProblemOptions options;
  if (format == "coo" && data[0] & 64) options.vartype = "SPIN";
  if (format == "dimacs") {
    options.problem = problems[data[0] / 6 % 4];
    if (options.problem == "colouring") options.colours = 3;
  }
  const std::span bytes(data + 1, size - 1);
  // A clique is dense: of graphs of many vertices it takes the fuzzer's time alone.
  if (options.problem == "max-clique" && size > 2000) return 0;
  fuzz::read(fuzz::named(format), std::as_bytes(bytes), options);
  return 0;
}
