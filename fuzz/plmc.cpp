// Any bytes as parameters of plmc.
#include "fuzz/problem_model.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  saltus::fuzz::read(saltus::fuzz::named("plmc"), std::as_bytes(std::span(data, size)), {});
  return 0;
}
