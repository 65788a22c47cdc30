#include "learn/model_output.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "io/bytes/byte_file.hpp"
#include "io/bytes/npz_write.hpp"
#include "io/models/weights_file.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

constexpr std::size_t kMostInside = 10'000;  // weights in the JSON itself

// "[1,2,3]", each number with the digits that restore it.
std::string list(std::span<const float> numbers) {
  std::string text = "[";
  for (const float v : numbers) text += (text.size() > 1 ? "," : "") + fmt::format("{}", v);
  return text + "]";
}

}  // namespace

void write_rbm(const std::filesystem::path& path, std::span<const float> weights,
               std::span<const float> visible_bias, std::span<const float> hidden_bias) {
  const std::size_t visible = visible_bias.size(), hidden = hidden_bias.size();
  std::string text = R"({"model": "rbm", )";
  if (weights.size() > kMostInside) {
    const std::filesystem::path beside = weights_beside(path);
    replace_file(beside, [&](OutputFile& out) {
      ZipWriter zip(out);
      add_npy(zip, "weights", NpyType::f4, {hidden, visible}, std::as_bytes(weights));
      add_npy(zip, "visible_bias", NpyType::f4, {visible}, std::as_bytes(visible_bias));
      add_npy(zip, "hidden_bias", NpyType::f4, {hidden}, std::as_bytes(hidden_bias));
      zip.finish();
    });
    text += R"("weights_file": )" + nlohmann::json(beside.filename().string()).dump() + "}\n";
  } else {
    text += R"("weights": [)";
    for (std::size_t h = 0; h < hidden; ++h) {
      text += (h ? ",\n " : "\n ") + list(weights.subspan(h * visible, visible));
    }
    text += "],\n \"visible_bias\": " + list(visible_bias) +
            ",\n \"hidden_bias\": " + list(hidden_bias) + "}\n";
  }
  replace_file(path, text);
}

// A pair is listed once with what both of its entries say: 2 G_ij.
void write_ising(const std::filesystem::path& path, std::span<const float> couplings,
                 std::span<const float> fields) {
  const std::size_t n = fields.size();
  replace_file(path, [&](OutputFile& out) {
    out.append(fmt::format("{{\"model\": \"ising\", \"n\": {},\n \"couplings\": [", n));
    const char* separator = "\n ";
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = i + 1; j < n; ++j) {
        if (couplings[i * n + j] == 0) continue;
        out.append(fmt::format("{}[{},{},{}]", separator, i, j, 2 * couplings[i * n + j]));
        separator = ",";
      }
    }
    out.append("],\n \"fields\": " + list(fields) + "}\n");
  });
}

}  // namespace saltus
