// Any bytes as a file of draws: the first byte chooses the format. Refused, or draws that can be
// read.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "saltus/core/error.hpp"
#include "saltus/io/draw_files.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const std::string stem =
      (std::filesystem::temp_directory_path() / ("saltus-fuzz-" + std::to_string(::getpid())))
          .string();
  const std::string path = stem + (data[0] % 2 ? ".npz" : ".csv");
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data) + 1, static_cast<std::streamsize>(size - 1));
  try {
    const auto draws = saltus::open_draws(path);
    if (draws->dim() > 4096) return 0;
    const saltus::RowBuffer<saltus::Symbol> x(1, draws->dim());
    std::vector<double> logp(1);
    std::vector<float> acceptance(1);
    for (int chain = 0; chain < draws->chains() && chain < 4; ++chain) {
      for (std::size_t t = 0; t < draws->draws() && t < 4; ++t) {
        draws->read_states(chain, t, x.view());
        draws->read_logp(chain, t, logp);
        draws->read_acceptance(chain, t, acceptance);
      }
    }
  } catch (const saltus::DataError&) {
  } catch (const saltus::FileError&) {
  }
  return 0;
}
