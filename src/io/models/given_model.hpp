// A part of reading models: some coordinates have known values.
#pragma once

#include "saltus/io/model_file.hpp"

namespace saltus {

// Throws UsageError where the target would be computed on a device.
void refuse_device_with_given(const Model& model, const ModelOptions& options);

// Turns a model with its target into that of the free coordinates; see ModelOptions::given. An
// empty list changes nothing.
void leave_free(Model& model, const std::string& given);

}  // namespace saltus
