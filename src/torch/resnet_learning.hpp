// Learning a ResnetEnergy by Adam on tensors.
#pragma once

#include <memory>

#include "saltus/torch/module.hpp"

namespace saltus {

std::unique_ptr<LearningNetwork> make_resnet_learning(const ResnetEnergy& start,
                                                      const NetworkLearning& options,
                                                      const DeviceChoice& choice);

}  // namespace saltus
