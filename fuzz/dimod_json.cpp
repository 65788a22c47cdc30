// Any bytes as dimod's JSON.
#include "fuzz/problem_model.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  saltus::fuzz::read(saltus::fuzz::named("dimod-json"), std::as_bytes(std::span(data, size)), {});
  return 0;
}
