// Parts of sample() in files of their own.
#pragma once

#include <string>
#include <vector>

#include "saltus/sample.hpp"

namespace saltus {

// What a checkpoint says of the run that it holds: JSON.
std::string describe_sample(const SampleRequest& request);

// What speaks against the draws, a sentence each.
std::vector<std::string> sample_warnings(const SampleResult& result);

}  // namespace saltus
