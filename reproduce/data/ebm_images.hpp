// Images for learning a deep energy, by the name of a published set or from a file of the user's.
#pragma once

#include <filesystem>
#include <string>

#include "reproduce/data/image_sets.hpp"

namespace saltus {

// One of image_set_names().
bool is_image_set(const std::string& name);

// A published set, looked for in `folder`, or a file. Throws as load_image_set and
// image_set_from_file do.
ImageSet load_images(const std::string& name_or_file, const std::filesystem::path& folder);

// The first so many images of each part, for short demonstrations.
ImageSet first_images(ImageSet images, int count);

// Chains that take turns in the published learning from a set; that of the larger sets for a file.
int published_buffer(const std::string& name);

}  // namespace saltus
