// Rows of 0 and 1 in NumPy's files: the first dimension counts the rows.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <climits>

#include "io/bytes/npy.hpp"
#include "io/bytes/zip.hpp"
#include "io/data/data_formats.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

// The first `leading` dimensions count the rows; the others are the shape of a row.
DataSet with_shape(const NpyArray& array, std::size_t leading) {
  const auto& shape = array.shape;
  if (shape.size() <= leading) {
    array.refuse(
        fmt::format("has {} dimensions; rows of data need {} or more", shape.size(), leading + 1));
  }
  // Without zeros, the product of the shape is at most the size of the file: parse_npy has checked.
  if (array.count() == 0) {
    array.refuse(fmt::format("is of shape ({}): it is empty", fmt::join(shape, ", ")));
  }
  DataSet data;
  std::uint64_t rows = 1, dim = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    (i < leading ? rows : dim) *= shape[i];
    if (i >= leading) data.shape.push_back(static_cast<int>(shape[i]));
  }
  if (rows > INT_MAX || dim > INT_MAX / 2) {
    array.refuse(fmt::format("has {} rows of {} entries, more than can be held", rows, dim));
  }
  data.rows = RowBuffer<Symbol>(static_cast<int>(rows), static_cast<int>(dim));
  return data;
}

DataSet read_rows(const NpyArray& array, std::size_t leading) {
  const std::uint64_t bytes = array.count() * item_size(array.type);
  if (array.data.size != bytes) {
    array.refuse(fmt::format("should end at byte {} and has {} bytes more",
                             array.data.offset + bytes, array.data.size - bytes));
  }
  DataSet data = with_shape(array, leading);
  const Rows<Symbol> rows = data.rows.view();
  std::vector<double> numbers(static_cast<std::size_t>(rows.cols));
  TwoValues values;
  for (int r = 0; r < rows.rows; ++r) {
    array.read(static_cast<std::uint64_t>(r) * numbers.size(), std::span(numbers));
    for (int i = 0; i < rows.cols; ++i) {
      const double number = numbers[static_cast<std::size_t>(i)];
      const std::optional<Symbol> level = values.level(number);
      if (!level) {
        array.refuse(fmt::format("holds {} in row {}, entry {}, where {} is expected", number, r, i,
                                 values.expected()));
      }
      rows[r][i] = *level;
    }
  }
  return data;
}

// The member to read, without its extension.
std::string chosen_array(const ZipReader& zip, const std::string& file) {
  for (const char* name : {"x", "data"}) {
    if (zip.has(std::string(name) + ".npy")) return name;
  }
  std::vector<std::string> names;
  for (const ZipMember& member : zip.members()) {
    if (member.name.ends_with(".npy")) {
      names.push_back(member.name.substr(0, member.name.size() - 4));
    }
  }
  if (names.size() == 1) return names[0];
  throw DataError(fmt::format(
      "'{}' cannot be used: an array 'x' or 'data', or a single array, is expected; it has {}.",
      file, names.empty() ? "no arrays" : fmt::format("'{}'", fmt::join(names, "', '"))));
}

}  // namespace

DataSet parse_npy_data(const FileRange& file) {
  return read_rows(parse_npy(file, "(the file)"), 1);
}

DataSet parse_npz_data(const FileRange& file) {
  const ZipReader zip(file.file);
  const std::string name = chosen_array(zip, file.file->name());
  // Draws of saltus lie there by chain and draw: every draw is a row.
  const bool draws = name == "x" && zip.has("logp.npy");
  const NpyArray array = parse_npy(zip.open(name + ".npy"), name);
  return read_rows(array, draws && array.shape.size() == 3 ? 2 : 1);
}

}  // namespace saltus
