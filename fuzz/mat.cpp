// Any bytes as a MATLAB file: refused, or an array of the shape that is told. The first byte
// chooses whether they stand behind a sound header.
#include <cstdlib>
#include <string>

#include "reproduce/data/mat_file.hpp"
#include "saltus/core/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  saltus::OutputFile out = saltus::OutputFile::unnamed("fuzz.mat");
  if (data[0] % 2) out.append(std::string(124, ' ') + std::string("\0\1IM", 4));
  out.append(data + 1, size - 1);
  const saltus::FileRange file = out.reopen();
  for (const char* name : {"data", "x"}) {
    try {
      const saltus::MatArray array = saltus::read_mat_array(file, name);
      std::uint64_t count = 1;
      for (const std::uint64_t n : array.dims) count *= n;
      if (array.dims.size() < 2 || array.values.size() != count) std::abort();
    } catch (const saltus::DataError&) {
    }
  }
  return 0;
}
