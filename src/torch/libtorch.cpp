#include "torch/libtorch.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include <algorithm>

#include "ops/gemm.hpp"
#include "saltus/core/error.hpp"

namespace saltus {

at::Device tensor_device(const DeviceChoice& choice) {
  const Precision precision =
      choice.precision.value_or(choice.device == Device::cpu ? Precision::single : Precision::half);
  if (choice.device == Device::cpu) {
    if (precision != Precision::single) {
      throw UsageError(
          "the processor computes in single precision; tf32 and half need the device "
          "cuda");
    }
    return at::kCPU;
  }
  if (!at::hasCUDA()) {
    throw UsageError("the device cuda cannot be used: libtorch finds no GPU, or has no CUDA");
  }
  // Unless told, libtorch takes TF32 for convolutions.
  at::globalContext().setAllowTF32CuBLAS(precision != Precision::single);
  at::globalContext().setAllowTF32CuDNN(precision != Precision::single);
  // The same input gives the same bits, in this run and in the next.
  at::globalContext().setBenchmarkCuDNN(false);
  at::globalContext().setDeterministicCuDNN(true);
  return at::Device(at::kCUDA, 0);
}

void use_one_thread() {
  thread_local bool done = false;
  if (done) return;
  at::set_num_threads(1);
  static const ops::OneBlasThread for_good;  // libtorch may multiply with the same BLAS
  done = true;
}

// The first line, or the last one with an error's name: an error inside a script stands at the end
// of the script's own trace. The program's calls come after it.
std::string words_of(const std::exception& error) {
  const std::string text = error.what();
  std::string words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.rfind("Exception raised from", 0) == 0 || line.rfind("frame #", 0) == 0) break;
    if (words.empty() || line.find("Error: ") != std::string::npos) words = line;
  }
  return words;
}

void throw_failure(const std::string& origin, const std::exception& error) {
  throw ComputationError(origin + " could not be computed: " + words_of(error));
}

}  // namespace saltus
