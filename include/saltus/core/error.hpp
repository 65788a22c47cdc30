// Errors that a user can cause. Our own bugs are assertions; these carry a sentence for the user.
#pragma once

#include <stdexcept>
#include <string>

namespace saltus {

// Data that does not fit: a model file, a checkpoint, a starting state. Exit status 65 on the
// command line.
struct DataError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What a model's own computation throws: an assertion in a script, no memory. It may be over the
// next time.
struct ComputationError : DataError {
  using DataError::DataError;
};

// A request that cannot be served: an option, a parameter, a sampler that does not suit the target.
// Exit status 64 on the command line.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A file that cannot be opened or written. Exit status 66 (reading) or 73 (writing).
struct FileError : std::runtime_error {
  FileError(const std::string& what, bool for_writing)
      : std::runtime_error(what), writing(for_writing) {}
  bool writing;
};

}  // namespace saltus
