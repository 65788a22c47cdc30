#include "saltus/target/resnet_energy.hpp"

#include <cmath>
#include <tuple>

#include "saltus/core/error.hpp"
#include "saltus/core/philox.hpp"

namespace saltus {
namespace {

// Collects arrays one after the other.
class ArrayList {
 public:
  // A layer's weight and bias.
  void add(const std::string& layer, std::vector<int> weight) {
    int fan_in = 1;
    for (std::size_t k = 1; k < weight.size(); ++k) fan_in *= weight[k];
    const int out = weight[0];
    add(layer + ".weight", std::move(weight), fan_in);
    add(layer + ".bias", {out}, fan_in);
  }
  std::vector<ParameterArray> take() { return std::move(arrays_); }

 private:
  void add(const std::string& name, std::vector<int> shape, int fan_in) {
    std::size_t size = 1;
    for (const int n : shape) size *= static_cast<std::size_t>(n);
    arrays_.push_back({name, std::move(shape), end_, size, fan_in});
    end_ += size;
  }

  std::vector<ParameterArray> arrays_;
  std::size_t end_ = 0;
};

void check(const ResnetShape& s) {
  constexpr int kMost = 4096;  // of anything: sizes then stay far from overflow
  for (const auto& [name, value, least] :
       {std::tuple("height", s.height, 1), std::tuple("width", s.width, 1),
        std::tuple("channels", s.channels, 1), std::tuple("blocks", s.blocks, 0)}) {
    if (value >= least && value <= kMost) continue;
    throw DataError("a residual network's " + std::string(name) + " is " + std::to_string(value) +
                    "; it must be from " + std::to_string(least) + " to " + std::to_string(kMost));
  }
  if (s.halvings < 0 || s.halvings > s.blocks) {
    throw DataError("a residual network's halvings are " + std::to_string(s.halvings) +
                    "; they must be from 0 to the number of blocks, " + std::to_string(s.blocks));
  }
}

}  // namespace

std::vector<ParameterArray> parameter_arrays(const ResnetShape& shape) {
  check(shape);
  const int c = shape.channels;
  ArrayList list;
  list.add("stem", {c, 1, 3, 3});
  for (int k = 0; k < shape.blocks; ++k) {
    const std::string block = "block" + std::to_string(k);
    list.add(block + ".first", {c, c, 3, 3});
    list.add(block + ".second", {c, c, 3, 3});
    if (k < shape.halvings) list.add(block + ".shortcut", {c, c, 1, 1});
  }
  list.add("readout", {1, c});
  return list.take();
}

std::size_t parameter_count(const ResnetShape& shape) {
  const ParameterArray last = parameter_arrays(shape).back();
  return last.begin + last.size;
}

ResnetEnergy ResnetEnergy::random(const ResnetShape& shape, std::vector<double> base_mean,
                                  std::uint64_t seed) {
  ResnetEnergy energy{shape, std::vector<float>(parameter_count(shape)), std::move(base_mean)};
  std::uint64_t number = 0;
  for (const ParameterArray& array : parameter_arrays(shape)) {
    const Stream stream(seed, kAllChains, number++, Purpose::start);
    const double bound = 1 / std::sqrt(array.fan_in);
    for (std::size_t i = 0; i < array.size; ++i) {
      energy.parameters[array.begin + i] =
          static_cast<float>(bound * (2 * stream.uniform(static_cast<std::uint32_t>(i)) - 1));
    }
  }
  check(energy);
  return energy;
}

void check(const ResnetEnergy& energy) {
  const std::size_t parameters = parameter_count(energy.shape);
  if (energy.parameters.size() != parameters) {
    throw DataError("a residual network of this shape has " + std::to_string(parameters) +
                    " parameters, not " + std::to_string(energy.parameters.size()));
  }
  for (const ParameterArray& array : parameter_arrays(energy.shape)) {
    for (std::size_t i = 0; i < array.size; ++i) {
      if (std::isfinite(energy.parameters[array.begin + i])) continue;
      throw DataError("a residual network's parameter array " + array.name +
                      " has an entry (number " + std::to_string(i) + ") that is not finite");
    }
  }
  const auto pixels = static_cast<std::size_t>(energy.shape.pixels());
  if (energy.base_mean.size() != pixels) {
    throw DataError("base_mean has " + std::to_string(energy.base_mean.size()) +
                    " entries, but there are " + std::to_string(pixels) + " pixels");
  }
  for (std::size_t i = 0; i < pixels; ++i) {
    if (energy.base_mean[i] > 0 && energy.base_mean[i] < 1) continue;
    throw DataError("base_mean[" + std::to_string(i) + "] is " +
                    std::to_string(energy.base_mean[i]) + "; it must lie between 0 and 1");
  }
}

}  // namespace saltus
