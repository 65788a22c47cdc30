// Loaders of published data sets: their files, and that they are the published ones.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "io/models/weights_file.hpp"
#include "reproduce/data/data_folder.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

constexpr int kVisible = 784, kHidden = 500, kBlockGibbs = 600, kStart = 100;

template <class Shape>
void check_shape(const std::filesystem::path& path, const std::string& what, const Shape& found,
                 const std::vector<int>& expected) {
  if (std::equal(found.begin(), found.end(), expected.begin(), expected.end(),
                 [](auto a, auto b) { return std::cmp_equal(a, b); })) {
    return;
  }
  throw DataError(fmt::format("'{}' cannot be used: {} of shape ({}) where ({}) is published.",
                              path.string(), what, fmt::join(found, ", "),
                              fmt::join(expected, ", ")));
}

std::vector<double> read_published(const std::filesystem::path& path, const std::string& name,
                                   const std::vector<int>& expected) {
  NamedArray array = read_array(path, name);
  check_shape(path, fmt::format("the array '{}' is", name), array.shape, expected);
  return std::move(array.values);
}

RowBuffer<Symbol> read_states(const std::filesystem::path& path, const std::string& name,
                              int count) {
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

ByteData load_mnist_bytes(const std::filesystem::path& folder, Split split) {
  if (split == Split::valid) throw UsageError("MNIST has no validation part, only train and test");
  const bool train = split == Split::train;
  const auto path =
      find_data_file("mnist", train ? "train-images-idx3-ubyte" : "t10k-images-idx3-ubyte", folder);
  ByteData data = read_idx(path);
  check_shape(path, "the images are", data.dims, {train ? 60'000 : 10'000, 28, 28});
  return data;
}

DataSet load_mnist(const std::filesystem::path& folder, Split split) {
  return binarize(load_mnist_bytes(folder, split));
}

DataSet load_static_mnist(const std::filesystem::path& folder, Split split) {
  const char* name = split == Split::train ? "train" : split == Split::valid ? "valid" : "test";
  const auto path =
      find_data_file("static_mnist", fmt::format("binarized_mnist_{}.amat", name), folder);
  DataSet data = read_binary_data(path);
  const std::vector<int> found = {data.rows.view().rows, data.rows.view().cols};
  check_shape(path, "the rows are", found, {split == Split::train ? 50'000 : 10'000, kVisible});
  data.shape = {28, 28};
  return data;
}

RbmReference load_rbm_reference(const std::filesystem::path& folder) {
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
