// What `saltus tune` finds, as a file: a sampler and its settings, for runs that are not to tune it
// themselves because they have some of the chains alone.
#pragma once

#include <string>

#include "saltus/sample.hpp"

namespace saltus::cli {

// Throws FileError.
void write_tuning(const std::string& path, const SampleRequest& request,
                  const SampleResult& result);
// Sets sampler and settings. Throws FileError and DataError.
void read_tuning(const std::string& path, SampleRequest& request);

}  // namespace saltus::cli
