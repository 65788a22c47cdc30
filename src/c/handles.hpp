// What the functions of the C interface share: the model behind a handle, and how errors leave.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "saltus/c.h"
#include "saltus/core/error.hpp"
#include "saltus/io/model_file.hpp"
#include "saltus/target/independent.hpp"

struct saltus_model {
  std::shared_ptr<const saltus::Target> target;
  std::optional<saltus::AnyModel> value;  // of all coordinates; none: a function of the caller's
  std::optional<saltus::Objective> objective;
  std::shared_ptr<const saltus::Problem> problem;
  std::optional<saltus::Independent> base;          // saltus::base_of_target
  std::shared_ptr<const saltus::WholeModel> whole;  // as in saltus::Model
  std::string text;                                 // as in saltus::Model; empty: made from arrays
  std::map<std::string, std::string> files;         // as in saltus::Model
  bool has_score = true;                            // false: the caller's function gives none

  bool is_function() const { return !value; }
  // Of all coordinates.
  const saltus::Target& whole_target() const { return whole ? *whole->target : *target; }
};

namespace saltus::c {

// The caller's function, or callback, has failed.
struct CallbackFailed : ComputationError {
  CallbackFailed() : ComputationError("the function of the target has failed") {}
};

// Calls f, which returns a status, and turns what it throws into one, with the sentence for
// saltus_last_error.
int guarded(const std::function<int()>& f) noexcept;

// Memory for the caller, freed with saltus_free.
char* copied(const std::string& text);

// Throws UsageError for a null pointer.
void need(const void* pointer, const char* what);

// The handle of a model that was read or made.
saltus_model* handle(Model model);

// A row for each of the states, without the values that are given. Throws DataError, naming the
// place in `what`, for a level that there is not, or one that contradicts what is given.
RowBuffer<Symbol> free_rows(const saltus_model& model, std::size_t rows,
                            const std::uint16_t* levels, const std::string& what);

// The options of a model that is a function: one thread, which is the caller's, and all chains
// together.
int threads_for(const saltus_model& model, int threads);

// Throws UsageError where the sampler needs a gradient that the model does not give.
void check_sampler(const saltus_model& model, const std::string& sampler,
                   const std::map<std::string, std::string>& settings);
// The names of those that run on it.
std::vector<std::string> samplers_of(const saltus_model& model);

}  // namespace saltus::c
