#include "io/given/given_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "io/bytes/gzip.hpp"
#include "io/bytes/npy.hpp"
#include "saltus/core/error.hpp"
#include "saltus/io/images.hpp"

namespace saltus {
namespace {

// A quarter from either end of grey.
constexpr int kBlack = 63, kWhite = 192, kOpaque = 128;

}  // namespace

std::vector<GivenValue> given_in_npy(const std::filesystem::path& path, const Domain& domain) {
  const NpyArray array = parse_npy(open_maybe_packed(path), "(the file)");
  if (array.count() != static_cast<std::uint64_t>(domain.dim())) {
    array.refuse(fmt::format("is of shape ({}): an entry for each of {} coordinates is expected",
                             fmt::join(array.shape, ", "), domain.dim()));
  }
  std::vector<double> numbers(static_cast<std::size_t>(domain.dim()));
  array.read(0, std::span(numbers));
  std::vector<GivenValue> list;
  for (int i = 0; i < domain.dim(); ++i) {
    const double number = numbers[static_cast<std::size_t>(i)];
    if (number == -1) continue;
    if (!(number >= 0 && number < domain.levels(i) && number == std::trunc(number))) {
      array.refuse(
          fmt::format("holds {} for coordinate {}, where a level from 0 to {}, or -1, is expected",
                      number, i, domain.levels(i) - 1));
    }
    list.emplace_back(i, static_cast<int>(number));
  }
  return list;
}

std::vector<GivenValue> given_in_picture(const std::filesystem::path& path, const Domain& domain) {
  if (!domain.two_level()) {
    throw DataError(path.string() +
                    ": a picture gives values of coordinates with two levels, but the model has "
                    "others");
  }
  const GreyPicture picture = read_png(path);
  if (std::int64_t{picture.width} * picture.height != domain.dim()) {
    throw DataError(fmt::format("{}: the picture has {} x {} pixels; the model has {} coordinates",
                                path.string(), picture.height, picture.width, domain.dim()));
  }
  std::vector<GivenValue> list;
  for (int i = 0; i < domain.dim(); ++i) {
    const int grey = picture.grey[static_cast<std::size_t>(i)];
    const bool seen = picture.opacity[static_cast<std::size_t>(i)] >= kOpaque;
    if (seen && (grey <= kBlack || grey >= kWhite)) list.emplace_back(i, grey >= kWhite);
  }
  return list;
}

}  // namespace saltus
