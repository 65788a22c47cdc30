// Published data sets in a folder of the user's, --data DIR or SALTUS_DATA. A set lies in a folder
// of its name, or its files lie in DIR itself; all but .npz and .zip may be packed by gzip (.gz).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "saltus/io/data_file.hpp"

namespace saltus {

struct PublishedData {
  std::string name, summary, published;  // published: where, a sentence
  // Separated by blanks, without .gz; `instead` serve where `files` are not there.
  std::string files, instead = {};
};
const std::vector<PublishedData>& published_data();

// `given` unless it is empty, then the environment's SALTUS_DATA; empty when there is neither.
std::filesystem::path data_folder(const std::string& given);

// For a set that is not in `folder` (empty: no folder was named): which files are expected, which
// are missing, where they are published and where they were looked for. Throws UsageError for a set
// that is not in published_data().
std::string missing_data_message(const std::string& set, const std::filesystem::path& folder);

// Where a file of a set lies. Throws FileError with missing_data_message().
std::filesystem::path find_data_file(const std::string& set, const std::string& file,
                                     const std::filesystem::path& folder);

// Where it lies, or nothing.
std::optional<std::filesystem::path> look_for_data_file(const std::string& set,
                                                        const std::string& file,
                                                        const std::filesystem::path& folder);

// Throws FileError with missing_data_message() unless all files of a set are there, or all that
// serve instead.
void need_data(const std::string& set, const std::filesystem::path& folder);

// The loaders throw FileError when a file is missing and DataError when it is not the published
// one: its shape differs, or its content does not fit.
enum class Split { train, valid, test };

// MNIST has no validation part: `valid` throws UsageError.
ByteData load_mnist_bytes(const std::filesystem::path& folder, Split split);
DataSet load_mnist(const std::filesystem::path& folder, Split split);  // byte >= kByteThreshold
DataSet load_static_mnist(const std::filesystem::path& folder, Split split);

// An RBM with 784 visible and 500 hidden units, trained on MNIST, and states to compare with.
struct RbmReference {
  std::vector<double> weights;  // hidden rows of visible entries
  std::vector<double> visible_bias, hidden_bias;
  std::vector<double> init_mean;  // of the independent bits that chains start from
  RowBuffer<Symbol> block_gibbs;  // 600 states of long block-Gibbs chains
  RowBuffer<Symbol> start;        // 100 starting states
};
RbmReference load_rbm_reference(const std::filesystem::path& folder);

}  // namespace saltus
