#include "text/text_file.hpp"

#include <algorithm>

#include "io/bytes/gzip.hpp"
#include "saltus/core/error.hpp"

namespace saltus {

std::string read_text(const std::filesystem::path& path, std::uint64_t longest) {
  const FileRange file = open_maybe_packed(path);
  if (file.size > longest)
    throw DataError(path.string() + ": it is too long for what it should be");
  std::string text(file.size, '\0');
  file.read(0, text.data(), text.size());
  return text;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace saltus
