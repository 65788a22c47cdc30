#include "learn/ebm_images.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace saltus {

bool is_image_set(const std::string& name) {
  const auto& names = image_set_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

ImageSet load_images(const std::string& name_or_file, const std::filesystem::path& folder) {
  return is_image_set(name_or_file) ? load_image_set(name_or_file, folder)
                                    : image_set_from_file(name_or_file);
}

ImageSet first_images(ImageSet images, int count) {
  for (ByteRows* part : {&images.train, &images.valid, &images.test}) {
    const auto bytes = static_cast<std::size_t>(std::min(count, part->rows())) *
                       static_cast<std::size_t>(part->cols);
    part->bytes.resize(bytes);
  }
  return images;
}

// FNV-1a over all entries and the shape.
std::string sum_of(const ImageSet& images) {
  std::uint64_t sum = 14695981039346656037u;
  const auto add = [&](std::uint64_t v) { sum = (sum ^ v) * 1099511628211u; };
  add(images.grey);
  add(static_cast<std::uint64_t>(images.height));
  add(static_cast<std::uint64_t>(images.width));
  for (const ByteRows* part : {&images.train, &images.valid, &images.test}) {
    add(part->bytes.size());
    for (const std::uint8_t x : part->bytes) add(x);
  }
  return fmt::format("{:016x}", sum);
}

}  // namespace saltus
