#include "torch/failure.hpp"

#include <algorithm>

#include "saltus/core/error.hpp"

namespace saltus {

// The first line, or the last one with an error's name: an error inside a script stands at the end
// of the script's own trace. The program's calls come after it.
std::string words_of(const std::exception& error) {
  const std::string text = error.what();
  std::string words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.rfind("Exception raised from", 0) == 0 || line.rfind("frame #", 0) == 0) break;
    if (words.empty() || line.find("Error: ") != std::string::npos) words = line;
  }
  return words;
}

void throw_failure(const std::string& origin, const std::exception& error) {
  throw ComputationError(origin + " could not be computed: " + words_of(error));
}

}  // namespace saltus
