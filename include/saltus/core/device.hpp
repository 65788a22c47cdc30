// Where a model is computed, and how precisely.
#pragma once

#include <optional>
#include <string>

namespace saltus {

enum class Device { cpu, cuda };

// How a network is computed. half: operands of products in IEEE half precision, sums in single.
enum class Precision { single, tf32, half };

struct DeviceChoice {
  Device device = Device::cpu;
  std::optional<Precision> precision;  // none: the fastest that suits the model
};

// "cpu", "cuda"; "single", "tf32", "half". Throw UsageError.
Device parse_device(const std::string& text);
Precision parse_precision(const std::string& text);

}  // namespace saltus
