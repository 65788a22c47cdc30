// Completes a picture: the unknown part is drawn from a model, given the known part.
//
// The model is a restricted Boltzmann machine that knows three letters, one for each hidden unit.
// The left half of one of them is given, and the right half follows.
#include <array>
#include <cstdio>
#include <string>

#include "saltus/sample.hpp"

namespace {

constexpr int kSide = 5;
constexpr std::array<const char*, 3> kLetters = {
    "#####..#....#....#....#..",  // T
    "#....#....#....#....#####",  // L
    "#...##...#######...##...#",  // H
};

// Hidden unit h is on where the picture is like letter h, and prefers its pixels then.
std::string model_text() {
  constexpr double kWeight = 3, kMargin = 8;
  std::string weights, hidden_bias, visible_bias = "0";
  for (int i = 1; i < kSide * kSide; ++i) visible_bias += ",0";
  for (const std::string letter : kLetters) {
    int ink = 0;
    std::string row;
    for (const char pixel : letter) {
      ink += pixel == '#';
      row += (row.empty() ? "" : ",") + std::to_string(pixel == '#' ? kWeight : -kWeight);
    }
    weights += (weights.empty() ? "[" : ",[") + row + "]";
    hidden_bias += (hidden_bias.empty() ? "" : ",") + std::to_string(-kWeight * (ink - kMargin));
  }
  return R"({"model": "rbm", "weights": [)" + weights + R"(], "hidden_bias": [)" + hidden_bias +
         R"(], "visible_bias": [)" + visible_bias + "]}";
}

void show(const std::string& pixels) {
  for (int y = 0; y < kSide; ++y) std::printf("  %.*s\n", kSide, pixels.c_str() + y * kSide);
}

}  // namespace

int main() {
  const std::string letter = kLetters[2];
  std::string known, half = letter;
  for (std::size_t i = 0; i < letter.size(); ++i) {
    if (i % kSide < 2) {
      known += (known.empty() ? "" : ",") + std::to_string(i) + (letter[i] == '#' ? "=1" : "=0");
    } else {
      half[i] = '?';
    }
  }
  saltus::ModelOptions options;
  options.given = known;  // "0=1,1=0,...", or the name of a file
  saltus::SampleRequest request(saltus::parse_model(model_text(), "the letters", {}, options));
  request.plan.draws = 2000;
  const saltus::SampleResult result = saltus::sample(request);

  std::string completed;
  for (const double mean : result.mean) completed += mean > 0.5 ? '#' : '.';
  std::printf("What is known, and the likeliest completion of each pixel:\n\n");
  show(half);
  std::printf("\n");
  show(completed);
  return completed == letter ? 0 : 1;
}
