// Images for learning a deep energy: the sets of the paper, from their published files, or a file
// of the user's.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "saltus/io/image_set.hpp"

namespace saltus {

// static_mnist, dynamic_mnist, omniglot, caltech.
const std::vector<std::string>& image_set_names();
// Throws UsageError for a name that is not in image_set_names(), FileError when a file is missing,
// and DataError when a file is not the published one.
ImageSet load_image_set(const std::string& name, const std::filesystem::path& folder);

// One of image_set_names().
bool is_image_set(const std::string& name);

// A published set, looked for in `folder`, or a file. Throws as load_image_set and
// image_set_from_file do.
ImageSet load_images(const std::string& name_or_file, const std::filesystem::path& folder);

// Keeps the first images of each part alone, for short demonstrations.
ImageSet first_images(ImageSet images, int count);

// Chains that take turns in the published learning from a set; that of the larger sets for a file.
int published_buffer(const std::string& name);

}  // namespace saltus
