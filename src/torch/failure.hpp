// What libtorch throws, in words for the user.
#pragma once

#include <exception>
#include <string>

namespace saltus {

// The line that tells what went wrong; libtorch writes many around it.
std::string words_of(const std::exception& error);

// f(), with what it throws as a ComputationError that names `origin`.
[[noreturn]] void throw_failure(const std::string& origin, const std::exception& error);
template <class F>
auto or_failure(const std::string& origin, const F& f) {
  try {
    return f();
  } catch (const std::exception& error) {
    throw_failure(origin, error);
  }
}

}  // namespace saltus
