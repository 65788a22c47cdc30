// The best state of each restart as a file.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/anneal/report.hpp"
#include "cli/text.hpp"
#include "io/bytes/byte_file.hpp"
#include "io/bytes/npy.hpp"
#include "io/bytes/words.hpp"
#include "io/bytes/zip.hpp"
#include "saltus/core/error.hpp"

namespace saltus::cli {
namespace {

namespace fs = std::filesystem;

std::string ending_of(const std::string& out) {
  return lower_cased(fs::path(out).extension().string());
}

std::span<const Symbol> state_of(const Found& found, std::size_t r) {
  return found.state.view().row(static_cast<int>(r));
}

void write_json(const AnnealReport& report, OutputFile& out) {
  const Found& found = report.result.restarts;
  out.append("{\"restarts\": [");
  for (std::size_t r = 0; r < found.logp.size(); ++r) {
    const Json row = {{"restart", report.request.first_restart + r},
                      {"logp", json_number(found.logp[r])},
                      {"step", found.step[r]},
                      {"state", state_of(found, r)}};
    out.append((r ? ",\n " : "\n ") + row.dump());
  }
  out.append("\n]}\n");
}

void write_csv(const AnnealReport& report, OutputFile& out) {
  const Found& found = report.result.restarts;
  std::string line = "restart,logp,step";
  for (int i = 0; i < found.state.view().cols; ++i) line += fmt::format(",x{}", i);
  out.append(line + "\n");
  for (std::size_t r = 0; r < found.logp.size(); ++r) {
    line = fmt::format("{},{},{}", report.request.first_restart + r, found.logp[r], found.step[r]);
    for (const Symbol s : state_of(found, r)) line += fmt::format(",{}", s);
    out.append(line + "\n");
  }
}

void write_npz(const AnnealReport& report, OutputFile& out) {
  const Found& found = report.result.restarts;
  const std::uint64_t restarts = found.logp.size();
  std::vector<Symbol> states;
  for (std::size_t r = 0; r < restarts; ++r) {
    const auto x = state_of(found, r);
    states.insert(states.end(), x.begin(), x.end());
  }
  const auto dim = static_cast<std::uint64_t>(report.model.domain().dim());
  ZipWriter zip(out);
  add_npy(zip, "state", NpyType::u2, {restarts, dim}, std::as_bytes(std::span(states)));
  add_npy(zip, "logp", NpyType::f8, {restarts}, std::as_bytes(std::span(found.logp)));
  add_npy(zip, "step", NpyType::u8, {restarts}, std::as_bytes(std::span(found.step)));
  zip.finish();
}

}  // namespace

void check_states_file(const std::string& out) {
  const std::string ending = ending_of(out);
  if (out.empty() || ending == ".json" || ending == ".npz" || ending == ".csv") return;
  throw UsageError("--out " + out + ": expected a name that ends in .json, .npz or .csv");
}

void write_states(const AnnealReport& report) {
  if (report.out.empty()) return;
  const std::string ending = ending_of(report.out);
  replace_file(report.out, [&](OutputFile& out) {
    if (ending == ".npz") return write_npz(report, out);
    ending == ".csv" ? write_csv(report, out) : write_json(report, out);
  });
}

}  // namespace saltus::cli
