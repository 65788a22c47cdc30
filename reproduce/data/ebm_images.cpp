#include "reproduce/data/ebm_images.hpp"

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

int published_buffer(const std::string& name) {
  return name == "caltech" ? 1000 : 10'000;
}

ImageSet first_images(ImageSet images, int count) {
  for (ByteRows* part : {&images.train, &images.valid, &images.test}) {
    const auto bytes = static_cast<std::size_t>(std::min(count, part->rows())) *
                       static_cast<std::size_t>(part->cols);
    part->bytes.resize(bytes);
  }
  return images;
}

}  // namespace saltus
