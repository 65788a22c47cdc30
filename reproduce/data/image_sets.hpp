// The image sets of the paper, from their published files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "saltus/io/image_set.hpp"

namespace saltus {

// static_mnist, dynamic_mnist, omniglot, caltech.
const std::vector<std::string>& image_set_names();
// The name under which published_data() has the files of a set. Throws UsageError for a name that
// is not in image_set_names().
std::string published_name(const std::string& image_set);

// Throws UsageError for a name that is not in image_set_names(), FileError when a file is missing,
// and DataError when a file is not the published one.
ImageSet load_image_set(const std::string& name, const std::filesystem::path& folder);

}  // namespace saltus
