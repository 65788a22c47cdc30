// The pictures of a run's page.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "cli/classes.hpp"
#include "cli/report/plots.hpp"
#include "core/number_text.hpp"
#include "saltus/io/images.hpp"

namespace saltus::cli {
namespace {

constexpr int kPictures = 15;
constexpr int kPictureSide = 256;

std::size_t size(int i) {
  return static_cast<std::size_t>(i);
}

struct Picture {
  int rows = 0, cols = 0;
};

// A model on a rectangle, or one whose size is that of a square picture.
std::optional<Picture> picture_of(const Draws& draws) {
  constexpr int smallest_guess = 64;  // a square number below that is more likely a coincidence
  const std::vector<int>& shape = draws.info().shape;
  if (shape.size() == 2 && shape[0] > 1 && shape[1] > 1) return Picture{shape[0], shape[1]};
  if (shape.size() > 1 && !(shape.size() == 2 && std::min(shape[0], shape[1]) == 1)) {
    return std::nullopt;
  }
  const int side = static_cast<int>(std::lround(std::sqrt(draws.dim())));
  if (draws.dim() < smallest_guess || side * side != draws.dim()) return std::nullopt;
  return Picture{side, side};
}

// Levels (not necessarily whole) as grey, `top` being white. Large pictures are averaged over
// squares of pixels.
std::vector<std::byte> png_of(Picture p, const std::vector<double>& levels, double top) {
  const int block = (std::max(p.rows, p.cols) + kPictureSide - 1) / kPictureSide;
  const int rows = (p.rows + block - 1) / block, cols = (p.cols + block - 1) / block;
  std::vector<double> sums(size(rows) * size(cols)), counts(sums.size());
  for (int r = 0; r < p.rows; ++r) {
    for (int c = 0; c < p.cols; ++c) {
      const std::size_t to = size(r / block) * size(cols) + size(c / block);
      sums[to] += levels[size(r) * size(p.cols) + size(c)];
      counts[to] += 1;
    }
  }
  std::vector<std::uint8_t> grey(sums.size());
  for (std::size_t i = 0; i < grey.size(); ++i) {
    const double share = std::clamp(sums[i] / counts[i] / std::max(top, 1.0), 0.0, 1.0);
    grey[i] = static_cast<std::uint8_t>(std::lround(255 * share));
  }
  return encode_png(grey, cols, rows);
}

std::vector<double> last_state(const Draws& draws, int chain) {
  std::vector<Symbol> x(size(draws.dim()));
  draws.read_states(chain, draws.draws() - 1, {x.data(), 1, draws.dim(), draws.dim()});
  return {x.begin(), x.end()};
}

// The levels of a run with given values, halfway to `top` where nothing is given; empty where the
// run has none, or the file's record of them is none.
std::vector<double> given_levels(const Draws& draws, double top) {
  const auto& attributes = draws.info().attributes;
  const auto record = attributes.find("given");
  if (record == attributes.end() || record->second.empty()) return {};
  std::vector<double> levels(size(draws.dim()), top / 2);
  for (const std::string& value : split_list(record->second)) {
    const std::size_t sign = std::min(value.find('='), value.size());
    const auto i = number_in<int>(std::string_view(value).substr(0, sign));
    const auto level = number_in<int>(std::string_view(value).substr(sign + (sign < value.size())));
    if (!i || !level || *i < 0 || *i >= draws.dim()) return {};
    levels[size(*i)] = *level;
  }
  return levels;
}

}  // namespace

void add_pictures(const RunPage& run) {
  const std::optional<Picture> picture = picture_of(run.draws);
  if (!picture || !can_write_png()) return;
  const DrawsInfo& info = run.draws.info();
  const int count = std::min(run.draws.chains(), kPictures);
  std::vector<std::vector<double>> states;
  double top = info.levels <= 256 ? info.levels - 1 : 0;
  for (int chain = 0; chain < count; ++chain) {
    states.push_back(last_state(run.draws, chain));
    // Of an unbounded model's many levels few occur.
    if (info.levels > 256)
      top = std::max(top, *std::max_element(states.back().begin(), states.back().end()));
  }
  std::vector<double> means;
  for (const CoordinateSummary& s : run.summaries) {
    means.push_back((s.mean - info.first_value) / info.spacing);
  }
  const std::string shape = fmt::format("{} × {}", picture->rows, picture->cols);
  std::vector<report::Image> images;
  if (const std::vector<double> known = given_levels(run.draws, top); !known.empty()) {
    images.push_back({png_of(*picture, known, top),
                      fmt::format("What is given, {}; grey is not", shape), "what is given"});
  }
  if (!has_classes(info)) {  // the mean of class numbers shows nothing
    images.push_back(
        {png_of(*picture, means, top), "The mean of all draws, " + shape, "mean of all draws"});
  }
  for (int chain = 0; chain < count; ++chain) {
    const std::string name = fmt::format("chain {}", chain + 1);
    images.push_back({png_of(*picture, states[size(chain)], top),
                      fmt::format("The last draw of {}, {}", name, shape),
                      fmt::format("{}, last draw", name)});
  }
  run.page.heading("Pictures");
  run.page.images(fmt::format("States as pictures of {}: black is {}, white {}.", shape,
                              short_number(info.first_value),
                              short_number(info.first_value + info.spacing * top)),
                  images);
}

}  // namespace saltus::cli
