// A part of reading models: some coordinates have known values.
#pragma once

#include "saltus/io/model_file.hpp"

namespace saltus {

class Constraint;

// Throws UsageError where the target would be computed on a device.
void refuse_device_with_given(const Model& model, const ModelOptions& options);

// Turns a model with its target into that of the free coordinates; see ModelOptions::given. An
// empty list changes nothing. `constraint`, which a single state that is left has to keep, is not
// applied yet.
void leave_free(Model& model, const std::string& given, const std::string& constraint);

// The field that the text of a restricted model has beside its own.
inline constexpr const char* kConstraintField = "constraint";

// Restricts the target to the states that keep a constraint on all coordinates. Where some are
// given before, Constraint::given says what is left of it for the others. An empty one changes
// nothing.
void restrict_target(Model& model, const std::string& constraint);

// Restricts a model of which some coordinates are given: the target to what is left of the rule,
// the whole model to the rule itself.
void restrict_free(Model& model, const Constraint& rule);

}  // namespace saltus
