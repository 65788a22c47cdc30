#include "io/bytes/npz_write.hpp"

namespace saltus {

void begin_npy(ZipWriter& zip, const std::string& name, NpyType type,
               std::span<const std::uint64_t> shape) {
  const std::string header = npy_header(type, shape);
  std::uint64_t bytes = item_size(type);
  for (const std::uint64_t n : shape) bytes *= n;
  zip.begin(name + ".npy", header.size() + bytes);
  zip.append(header);
}

void add_npy(ZipWriter& zip, const std::string& name, NpyType type,
             const std::vector<std::uint64_t>& shape, std::span<const std::byte> numbers) {
  begin_npy(zip, name, type, shape);
  zip.append(numbers.data(), numbers.size());
  zip.end();
}

}  // namespace saltus
