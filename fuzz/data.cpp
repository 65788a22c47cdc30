// Any bytes as a data set: the first byte chooses the name, which tells the format. Refused, or
// rows of 0 and 1 of the shape that is told.
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "saltus/core/error.hpp"
#include "saltus/io/data_file.hpp"

namespace {

void check(const saltus::DataSet& data) {
  const saltus::Rows<saltus::Symbol> rows = data.rows.view();
  int dim = 1;
  for (const int n : data.shape) dim *= n;
  if (rows.rows < 1 || rows.cols < 1 || dim != rows.cols) std::abort();
  for (int r = 0; r < rows.rows; ++r) {
    for (const saltus::Symbol x : rows.row(r)) {
      if (x > 1) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static constexpr std::array kEndings = {".npy", ".npz", ".csv", ".amat", "-ubyte", ".bin"};
  if (size == 0) return 0;
  static const std::string stem =
      (std::filesystem::temp_directory_path() / ("saltus-fuzz-" + std::to_string(::getpid())))
          .string();
  const std::string path = stem + kEndings[data[0] % kEndings.size()];
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data) + 1, static_cast<std::streamsize>(size - 1));
  try {
    check(saltus::read_binary_data(path));
  } catch (const saltus::DataError&) {
  }
  try {
    saltus::read_idx(path);
  } catch (const saltus::DataError&) {
  }
  return 0;
}
