#include "reproduce/data/image_sets.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "io/bytes/gzip.hpp"
#include "io/data/byte_rows.hpp"
#include "reproduce/data/data_folder.hpp"
#include "reproduce/data/mat_file.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

namespace fs = std::filesystem;

constexpr int kSide = 28, kPixels = kSide * kSide;
constexpr int kMnistValid = 10000, kOmniglotValid = 1345;
// The published order of Omniglot is not known: ours is NumPy's of this seed.
constexpr std::uint32_t kOmniglotSeed = 777;

ImageSet load_static_mnist_images(const fs::path& folder) {
  ImageSet set;
  set.train = bytes_of(load_static_mnist(folder, Split::train));
  set.valid = bytes_of(load_static_mnist(folder, Split::valid));
  set.test = bytes_of(load_static_mnist(folder, Split::test));
  return set;
}

ImageSet load_dynamic_mnist(const fs::path& folder) {
  ImageSet set;
  set.grey = true;
  set.train = {kPixels, load_mnist_bytes(folder, Split::train).bytes};
  set.valid = split_off(set.train, kMnistValid);
  set.test = {kPixels, load_mnist_bytes(folder, Split::test).bytes};
  return set;
}

// A probability as a byte; chardata.mat holds multiples of 1/255 up to rounding.
int grey_byte(double number) {
  return number >= 0 && number <= 1 ? static_cast<int>(std::lround(255 * number)) : -1;
}

// Ink is 1 in the literature and 0 in the file.
int inverted_bit(double number) {
  return number == 0 ? 1 : number == 1 ? 0 : -1;
}

ByteRows read_bytes(const fs::path& path, int count) {
  const FileRange file = open_maybe_packed(path);
  const std::uint64_t expected = std::uint64_t{kPixels} * static_cast<std::uint64_t>(count);
  if (file.size != expected) {
    throw DataError(
        fmt::format("'{}' cannot be used: it has {} bytes where {} ({} x {} x {}) are expected.",
                    path.string(), file.size, expected, count, kSide, kSide));
  }
  ByteRows images{kPixels, std::vector<std::uint8_t>(expected)};
  file.read(0, images.bytes.data(), images.bytes.size());
  return images;
}

ImageSet load_omniglot(const fs::path& folder) {
  ImageSet set;
  set.grey = true;
  ByteRows all;
  if (const auto burda = look_for_data_file("omniglot", "chardata.mat", folder)) {
    const FileRange file = open_maybe_packed(*burda);
    all = read_mat_images(file, "data", {MatImages::columns, 24345, kSide, grey_byte});
    set.test = read_mat_images(file, "testdata", {MatImages::columns, 8070, kSide, grey_byte});
  } else {
    all = read_bytes(find_data_file("omniglot", "omniglot28_background.u8", folder), 19280);
    set.test = read_bytes(find_data_file("omniglot", "omniglot28_evaluation.u8", folder), 13180);
    set.notes.push_back(
        "Omniglot as made from the original drawings (19,280 of the background set to learn from "
        "and validate, 13,180 of the evaluation set to test), not the published chardata.mat: its "
        "numbers are not comparable with published ones digit by digit.");
  }
  set.train = shuffled(all, kOmniglotSeed);
  set.valid = split_off(set.train, kOmniglotValid);
  return set;
}

ImageSet load_caltech(const fs::path& folder) {
  ImageSet set;
  const FileRange file =
      open_maybe_packed(find_data_file("caltech", "caltech101_silhouettes_28_split1.mat", folder));
  const auto part = [&](const char* array, int count) {
    return read_mat_images(file, array, {MatImages::rows, count, kSide, inverted_bit});
  };
  set.train = part("train_data", 4100);
  set.valid = part("val_data", 2264);
  set.test = part("test_data", 2307);
  return set;
}

struct Entry {
  std::string name;
  ImageSet (*load)(const fs::path&);
};

const Entry kEntries[] = {{"static_mnist", load_static_mnist_images},
                          {"dynamic_mnist", load_dynamic_mnist},
                          {"omniglot", load_omniglot},
                          {"caltech", load_caltech}};

}  // namespace

const std::vector<std::string>& image_set_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const Entry& entry : kEntries) list.push_back(entry.name);
    return list;
  }();
  return names;
}

ImageSet load_image_set(const std::string& name, const fs::path& folder) {
  const auto entry = std::ranges::find(kEntries, name, &Entry::name);
  if (entry == std::end(kEntries)) {
    throw UsageError(fmt::format("there is no set of images '{}'; known are {}", name,
                                 fmt::join(image_set_names(), ", ")));
  }
  ImageSet set = entry->load(folder);
  set.name = name;
  set.height = set.width = kSide;
  return set;
}

bool is_image_set(const std::string& name) {
  return std::ranges::count(image_set_names(), name) > 0;
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
