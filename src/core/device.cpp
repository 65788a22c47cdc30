#include "saltus/core/device.hpp"

#include "saltus/core/error.hpp"

namespace saltus {

Device parse_device(const std::string& text) {
  if (text == "cpu") return Device::cpu;
  if (text == "cuda") return Device::cuda;
  throw UsageError("the device '" + text + "' is not known: it is cpu or cuda");
}

Precision parse_precision(const std::string& text) {
  if (text == "single") return Precision::single;
  if (text == "tf32") return Precision::tf32;
  if (text == "half") return Precision::half;
  throw UsageError("the precision '" + text + "' is not known: it is single, tf32 or half");
}

}  // namespace saltus
