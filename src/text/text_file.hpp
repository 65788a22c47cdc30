// Text files, whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace saltus {

constexpr std::uint64_t kLongestText = std::uint64_t{1} << 30;

// The content of a file, which may be packed by gzip. Throws FileError, and DataError when it is
// longer than `longest`.
std::string read_text(const std::filesystem::path& path, std::uint64_t longest = kLongestText);

// Lines without their ends, "\n" or "\r\n"; the last one may have none.
std::vector<std::string> lines_of(std::string_view text);

}  // namespace saltus
