#include "io/bytes/byte_source.hpp"

#include <cstring>
#include <memory>

#include "saltus/core/error.hpp"

namespace saltus {

ByteSource file_bytes(const std::filesystem::path& path) {
  const auto file = std::make_shared<const InputFile>(path);
  return range_bytes({file, 0, file->size()}, path.string());
}

ByteSource memory_bytes(std::span<const std::byte> bytes, std::string name) {
  const auto read = [bytes, name](std::uint64_t at, void* out, std::size_t count) {
    if (at > bytes.size() || count > bytes.size() - at)
      throw DataError(name + ": it ends too early");
    if (count) std::memcpy(out, bytes.data() + at, count);
  };
  return {name, bytes.size(), read};
}

ByteSource range_bytes(FileRange range, std::string name) {
  const std::uint64_t size = range.size;
  return {std::move(name), size,
          [range = std::move(range)](std::uint64_t at, void* out, std::size_t bytes) {
            range.read(at, out, bytes);
          }};
}

std::string text_of(const ByteSource& source, std::uint64_t longest) {
  if (source.size > longest)
    throw DataError(source.name + ": it is too long for what it should be");
  std::string text(source.size, '\0');
  if (!text.empty()) source.read(0, text.data(), text.size());
  return text;
}

}  // namespace saltus
