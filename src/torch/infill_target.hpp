// The gaps of a sentence under a masked language model, by libtorch.
#pragma once

#include <memory>

#include "saltus/torch/module.hpp"

namespace saltus {

std::shared_ptr<const MaskedModel> make_masked_model(BertFiles bert, const DeviceChoice& choice);

std::unique_ptr<InfillTarget> make_infill_target(std::shared_ptr<const MaskedModel> masked_model,
                                                 const InfillProblem& problem,
                                                 const AllowedPieces& allowed);

}  // namespace saltus
