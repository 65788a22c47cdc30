// Writes files of known draws for interop_test.py to read and, with --read, reads those that it
// wrote. The content is a formula that the script knows too.
#include <fmt/format.h>
#include <fstream>

#include <cmath>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "io/bytes/npy.hpp"
#include "io/bytes/zip.hpp"
#include "memory_draws.hpp"
#include "saltus/core/error.hpp"
#include "saltus/io/draw_files.hpp"

namespace saltus {
namespace {

namespace fs = std::filesystem;

constexpr int kSkipped = 77;

DrawsInfo sample_info() {
  DrawsInfo info;
  info.model = "ising";
  info.sampler = "gibbs";
  info.shape = {2, 3};
  info.levels = 2;
  info.first_value = -1;
  info.spacing = 2;
  info.step_size = 0.25;
  info.attributes = {{"seed", "17"}, {"version", "0.1.0"}};
  return info;
}

const int kChains = 3;
const std::size_t kDraws = 50;

DrawsInfo many_levels_info() {
  DrawsInfo info = sample_info();
  info.shape = {6};
  info.levels = 300;
  info.first_value = 0;
  info.spacing = 1;
  return info;
}

// A file with every number in its 64-bit form, as one beyond 4 GiB has them.
void write_zip64(const fs::path& path) {
  const std::vector<std::uint64_t> shape = {4};
  const std::string header = npy_header(NpyType::u1, shape);
  std::ofstream{path};
  OutputFile out(path, path.string());
  ZipWriter zip(out, 0);
  for (const char* name : {"a.npy", "b.npy"}) {
    zip.begin(name, header.size() + 4);
    zip.append(header + "\1\2\3\4");
    zip.end();
  }
  zip.finish();
  out.close();
}

int write_files(const fs::path& folder) {
  fs::create_directories(folder);
  const MemoryDraws sample(sample_info(), kChains, kDraws);
  const MemoryDraws many(many_levels_info(), kChains, kDraws);
  for (const char* extension : {".npz", ".csv", ".nc"}) {
    const fs::path path = folder / (std::string("sample") + extension);
    if (std::string why; !can_write_draws(path, &why)) {
      fmt::print("{}\n", why);
      fs::remove(path);
      continue;
    }
    write_draws(path, sample);
    write_draws(folder / (std::string("many_levels") + extension), many);
  }
  write_zip64(folder / "zip64.npz");
  return 0;
}

void require(bool ok, const fs::path& path, const std::string& what) {
  if (!ok) throw DataError(fmt::format("'{}' was read wrongly: {}.", path.string(), what));
}

void require_states(const fs::path& path, const Draws& draws, const MemoryDraws& expected) {
  require(draws.chains() == expected.chains(), path, "chains");
  require(draws.draws() == expected.draws(), path, "draws");
  require(draws.dim() == expected.dim(), path, "dim");
  const RowBuffer<Symbol> x(static_cast<int>(kDraws), draws.dim());
  for (int chain = 0; chain < draws.chains(); ++chain) {
    draws.read_states(chain, 0, x.view());
    for (int r = 0; r < x.view().rows; ++r) {
      for (int i = 0; i < draws.dim(); ++i) {
        const Symbol want = expected.state(chain, static_cast<std::size_t>(r), i);
        require(x.view()[r][i] == want, path, "states");
      }
    }
  }
}

void require_numbers(const fs::path& path, const Draws& draws, const MemoryDraws& expected) {
  std::vector<double> logp(kDraws);
  std::vector<float> acceptance(kDraws);
  for (int chain = 0; chain < draws.chains(); ++chain) {
    draws.read_logp(chain, 0, logp);
    draws.read_acceptance(chain, 0, acceptance);
    for (std::size_t d = 0; d < kDraws; ++d) {
      const double want = expected.logp(chain, d);
      require(logp[d] == want || (std::isnan(logp[d]) && std::isnan(want)), path, "logp");
      require(acceptance[d] == expected.acceptance(chain, d), path, "acceptance");
    }
  }
}

int read_files(const fs::path& folder) {
  if (!fs::exists(folder / "compressed.npz")) {
    fmt::print("skipped: '{}' holds no files written by Python.\n", folder.string());
    return kSkipped;
  }
  const MemoryDraws sample(sample_info(), kChains, kDraws);
  for (const char* name : {"compressed.npz", "plain.npz", "rewritten.csv", "rewritten.nc"}) {
    const fs::path path = folder / name;
    if (!fs::exists(path) && path.extension() == ".nc") continue;  // a build without netCDF
    const auto draws = open_draws(path);
    require_states(path, *draws, sample);
    require_numbers(path, *draws, sample);
  }
  const MemoryDraws one_chain(sample_info(), 1, kDraws);
  require_states(folder / "states.npz", *open_draws(folder / "states.npz"), one_chain);
  if (fs::exists(folder / "foreign.nc")) {
    const auto draws = open_draws(folder / "foreign.nc");
    require_states(folder / "foreign.nc", *draws, sample);
    std::vector<double> logp(1);
    draws->read_logp(0, 0, logp);
    require(std::isnan(logp[0]), folder / "foreign.nc", "logp");
  }
  return 0;
}

}  // namespace
}  // namespace saltus

int main(int argc, char** argv) {
  try {
    if (argc == 2) return saltus::write_files(argv[1]);
    if (argc == 3 && std::strcmp(argv[1], "--read") == 0) return saltus::read_files(argv[2]);
    fmt::print(stderr, "usage: write_interop_files [--read] DIR\n");
    return 64;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
