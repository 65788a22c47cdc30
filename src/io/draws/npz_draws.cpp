// Draws as a NumPy archive: x (category indices), logp, acceptance_rate, values, step_size; of a
// part of a run also part, its first chain and the number of the run's chains; of unordered levels
// classes, how many each coordinate has; of a model on a sparse graph bonds, pairs of coordinates;
// of a tempered run tempering and where there are some warnings, JSON as bytes; given values and
// the constraint as text.
#include <fmt/format.h>

#include <array>
#include <cassert>
#include <climits>
#include <cmath>

#include "io/bytes/npy.hpp"
#include "io/draws/array_draws.hpp"
#include "io/draws/formats.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

constexpr int kMostLevelsInAByte = 256;
constexpr std::size_t kLongestText = std::size_t{16} << 20;
// Attributes that are kept.
constexpr const char* kTexts[] = {"constraint",  "given",     "labels",
                                  "level_names", "tempering", "warnings"};

template <class Stored>
void append_states(ZipWriter& zip, const Draws& draws) {
  std::vector<Stored> packed;
  for (int chain = 0; chain < draws.chains(); ++chain) {
    for_each_state_block(draws, chain, block_rows(draws), [&](std::size_t, auto states) {
      assert(std::ranges::max(states) < draws.info().levels);
      packed.assign(states.begin(), states.end());
      zip.append(packed.data(), packed.size() * sizeof(Stored));
    });
  }
}

void write_states(ZipWriter& zip, const Draws& draws) {
  const std::array<std::uint64_t, 3> shape = {static_cast<std::uint64_t>(draws.chains()),
                                              draws.draws(),
                                              static_cast<std::uint64_t>(draws.dim())};
  const bool narrow = draws.info().levels <= kMostLevelsInAByte;
  begin_npy(zip, "x", narrow ? NpyType::u1 : NpyType::u2, shape);
  narrow ? append_states<std::uint8_t>(zip, draws) : append_states<std::uint16_t>(zip, draws);
  zip.end();
}

template <class T>
void write_numbers(ZipWriter& zip, const Draws& draws, const std::string& name, NpyType type,
                   void (Draws::*read)(int, std::size_t, std::span<T>) const) {
  const std::array<std::uint64_t, 2> shape = {static_cast<std::uint64_t>(draws.chains()),
                                              draws.draws()};
  begin_npy(zip, name, type, shape);
  for (int chain = 0; chain < draws.chains(); ++chain) {
    for_each_number_block(draws, chain, read, [&](std::size_t, std::span<const T> block) {
      zip.append(block.data(), block.size_bytes());
    });
  }
  zip.end();
}

void write_constants(ZipWriter& zip, const DrawsInfo& info) {
  const std::array<double, 2> values = {info.first_value, info.spacing};
  add_npy(zip, "values", NpyType::f8, {2}, std::as_bytes(std::span(values)));
  add_npy(zip, "step_size", NpyType::f8, {}, std::as_bytes(std::span(&info.step_size, 1)));
  if (info.chains_of_run > 0) {
    const std::array<double, 2> part = {static_cast<double>(info.first_chain),
                                        static_cast<double>(info.chains_of_run)};
    add_npy(zip, "part", NpyType::f8, {2}, std::as_bytes(std::span(part)));
  }
  if (!info.classes.empty()) {
    const std::vector<double> classes(info.classes.begin(), info.classes.end());
    add_npy(zip, "classes", NpyType::f8, {classes.size()}, std::as_bytes(std::span(classes)));
  }
  if (!info.bonds.empty()) {
    const std::vector<double> bonds(info.bonds.begin(), info.bonds.end());
    add_npy(zip, "bonds", NpyType::f8, {bonds.size() / 2, 2}, std::as_bytes(std::span(bonds)));
  }
  for (const char* name : kTexts) {
    const auto found = info.attributes.find(name);
    if (found == info.attributes.end() || found->second.size() > kLongestText) continue;
    const std::string& text = found->second;
    add_npy(zip, name, NpyType::u1, {text.size()}, std::as_bytes(std::span(text)));
  }
}

std::optional<NpyArray> find_array(const ZipReader& zip, const std::string& name) {
  if (!zip.has(name + ".npy")) return std::nullopt;
  return parse_npy(zip.open(name + ".npy"), name);
}

// The few numbers of a small array that must have exactly `count`.
std::vector<double> small_array(const NpyArray& array, std::size_t count) {
  std::vector<double> numbers(count);
  if (array.count() != count) {
    array.refuse(fmt::format("has {} numbers where {} {} needed", array.count(), count,
                             count == 1 ? "is" : "are"));
  }
  array.read(0, std::span(numbers));
  return numbers;
}

// One number, or one for each coordinate of x.
void read_classes(const NpyArray& classes, const NpyArray& x, DrawsInfo& info) {
  const std::uint64_t dim = x.shape.empty() ? 0 : x.shape.back();
  const bool fits = classes.count() == 1 || (classes.count() == dim && dim <= INT_MAX);
  if (!fits || !take_classes(small_array(classes, classes.count()), static_cast<int>(dim), info)) {
    classes.refuse("is no list of level counts, one or one per coordinate");
  }
}

void read_bonds(const NpyArray& bonds, const NpyArray& x, DrawsInfo& info) {
  constexpr std::size_t kMost = std::size_t{1} << 24;
  const std::uint64_t dim = x.shape.empty() ? 0 : std::min<std::uint64_t>(x.shape.back(), INT_MAX);
  if (bonds.count() > kMost ||
      !take_bonds(small_array(bonds, bonds.count()), static_cast<int>(dim), info)) {
    bonds.refuse("is no list of pairs of coordinates");
  }
}

// The text whose bytes are the array's numbers.
std::string text_of(const NpyArray& array) {
  if (array.type != NpyType::u1) array.refuse("is no text: expected bytes, |u1");
  if (array.count() > kLongestText) array.refuse("is too long to be a text");
  std::vector<double> numbers(array.count());
  array.read(0, std::span(numbers));
  std::string text;
  for (const double v : numbers) text += static_cast<char>(static_cast<unsigned char>(v));
  return text;
}

}  // namespace

void write_npz_draws(const std::filesystem::path& path, const std::string& name,
                     const Draws& draws) {
  OutputFile out(path, name);
  ZipWriter zip(out);
  write_states(zip, draws);
  write_numbers(zip, draws, "logp", NpyType::f8, &Draws::read_logp);
  write_numbers(zip, draws, "acceptance_rate", NpyType::f4, &Draws::read_acceptance);
  write_constants(zip, draws.info());
  zip.finish();
  out.close();
}

std::unique_ptr<Draws> open_npz_draws(const std::filesystem::path& path) {
  const auto file = std::make_shared<const InputFile>(path);
  const ZipReader zip(file);
  std::optional<NpyArray> x = find_array(zip, "x");
  if (!x) throw DataError(fmt::format("'{}' holds no draws: it has no array 'x'.", file->name()));
  DrawsInfo info;
  if (const auto values = find_array(zip, "values")) {
    const std::vector<double> numbers = small_array(*values, 2);
    info.first_value = numbers[0];
    info.spacing = numbers[1];
    if (!std::isfinite(info.first_value) || !std::isfinite(info.spacing) || info.spacing == 0) {
      values->refuse("is not a first value and a spacing");
    }
  }
  if (const auto step = find_array(zip, "step_size")) info.step_size = small_array(*step, 1)[0];
  if (const auto part = find_array(zip, "part")) {
    const std::vector<double> numbers = small_array(*part, 2);
    const auto whole = [](double v) { return v >= 0 && v <= 4294967295.0 && v == std::floor(v); };
    if (!whole(numbers[0]) || !whole(numbers[1])) part->refuse("is not a first chain and a count");
    info.first_chain = static_cast<std::int64_t>(numbers[0]);
    info.chains_of_run = static_cast<std::int64_t>(numbers[1]);
  }
  if (const auto classes = find_array(zip, "classes")) read_classes(*classes, *x, info);
  if (const auto bonds = find_array(zip, "bonds")) read_bonds(*bonds, *x, info);
  for (const char* name : kTexts) {
    if (const auto text = find_array(zip, name)) info.attributes[name] = text_of(*text);
  }
  return std::make_unique<ArrayDraws>(std::move(info), std::move(*x), find_array(zip, "logp"),
                                      find_array(zip, "acceptance_rate"));
}

}  // namespace saltus
