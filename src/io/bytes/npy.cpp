#include "io/bytes/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <cstring>
#include <functional>
#include <numeric>
#include <tuple>
#include <type_traits>
#include <utility>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

static_assert(std::endian::native == std::endian::little, "files are little-endian");

// By NpyType.
using Types = std::tuple<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, std::int8_t,
                         std::int16_t, std::int32_t, std::int64_t, float, double>;
constexpr std::array<std::string_view, std::tuple_size_v<Types>> kTypeNames = {
    "|u1", "<u2", "<u4", "<u8", "|i1", "<i2", "<i4", "<i8", "<f4", "<f8"};

// Calls f with a number of the type.
template <class F>
void with_type(NpyType type, const F& f) {
  const auto call = [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((static_cast<std::size_t>(type) == I ? f(std::tuple_element_t<I, Types>{}) : void()), ...);
  };
  call(std::make_index_sequence<std::tuple_size_v<Types>>());
}

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr std::size_t kMaxHeader = std::size_t{1} << 20;
constexpr std::size_t kMaxDimensions = 32;  // as many as NumPy has

// Reads the Python literal in a header: a dictionary with a string, a bool and a tuple of integers.
class HeaderText {
 public:
  HeaderText(const NpyArray& array, std::string_view text) : array_(array), rest_(text) {}

  bool accept(std::string_view token) {
    skip_spaces();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) malformed();
  }
  std::string string() {
    skip_spaces();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) malformed();
    const std::size_t end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) malformed();
    std::string value(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return value;
  }
  bool boolean() {
    if (accept("True")) return true;
    expect("False");
    return false;
  }
  // Entries with commas between them and, as Python allows, behind the last one.
  template <class Entry>
  void list(std::string_view open, std::string_view close, const Entry& read_entry) {
    expect(open);
    while (!accept(close)) {
      read_entry();
      if (accept(",")) continue;
      return expect(close);
    }
  }
  std::vector<std::uint64_t> tuple() {
    std::vector<std::uint64_t> values;
    list("(", ")", [&] {
      if (values.size() == kMaxDimensions) array_.refuse("has more than 32 dimensions");
      values.push_back(integer());
    });
    return values;
  }
  void expect_end() {
    skip_spaces();
    if (!rest_.empty()) malformed();
  }
  [[noreturn]] void malformed() const { array_.refuse("has a malformed header"); }

 private:
  std::uint64_t integer() {
    skip_spaces();
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error == std::errc::result_out_of_range) array_.refuse("has an impossible shape");
    if (error != std::errc()) malformed();
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  void skip_spaces() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_[0]))) {
      rest_.remove_prefix(1);
    }
  }

  const NpyArray& array_;
  std::string_view rest_;
};

struct HeaderFields {
  std::optional<std::string> descr;
  std::optional<bool> fortran;
  std::optional<std::vector<std::uint64_t>> shape;
};

HeaderFields read_fields(const NpyArray& array, HeaderText& text) {
  HeaderFields fields;
  text.list("{", "}", [&] {
    const std::string key = text.string();
    text.expect(":");
    if (key == "descr" && !fields.descr) {
      if (text.accept("[")) array.refuse("is a structured array where plain numbers are needed");
      fields.descr = text.string();
    } else if (key == "fortran_order" && !fields.fortran) {
      fields.fortran = text.boolean();
    } else if (key == "shape" && !fields.shape) {
      fields.shape = text.tuple();
    } else {
      text.malformed();
    }
  });
  text.expect_end();
  return fields;
}

NpyType type_of(const NpyArray& array, const std::string& descr) {
  if (descr == "|b1") return NpyType::u1;  // true and false are bytes 1 and 0
  const auto found = std::ranges::find(kTypeNames, descr);
  if (found != kTypeNames.end()) return static_cast<NpyType>(found - kTypeNames.begin());
  array.refuse(
      fmt::format("is of type '{}' where integers or floating-point numbers of at most 8 bytes "
                  "in little-endian order are needed",
                  descr.substr(0, 40)));
}

// The text between the fixed part of the header and the numbers, and where the numbers start.
std::pair<std::string, std::uint64_t> read_preamble(const NpyArray& array) {
  const FileRange& file = array.data;
  std::array<unsigned char, 12> fixed = {};
  if (file.size < 10) array.refuse("is too short for a NumPy array");
  file.read(0, fixed.data(), std::min<std::size_t>(fixed.size(), file.size));
  if (std::memcmp(fixed.data(), kNpyMagic.data(), kNpyMagic.size()) != 0) {
    array.refuse("is no NumPy array");
  }
  const int version = fixed[6];
  if ((version != 1 && version != 2) || fixed[7] != 0) {
    array.refuse(fmt::format("is in version {}.{} of the NumPy format where 1.0 and 2.0 are known",
                             version, fixed[7]));
  }
  const std::size_t start = version == 1 ? 10 : 12;
  std::size_t length = fixed[8] | static_cast<std::size_t>(fixed[9]) << 8;
  if (version == 2) {
    length |= static_cast<std::size_t>(fixed[10]) << 16 | static_cast<std::size_t>(fixed[11]) << 24;
  }
  if (length > kMaxHeader || start > file.size || length > file.size - start) {
    array.refuse("has a header that is longer than the array");
  }
  std::string text(length, '\0');
  file.read(start, text.data(), length);
  return {text, start + length};
}

template <class From, class To>
void convert(const NpyArray& array, const char* bytes, std::span<To> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    From value;
    std::memcpy(&value, bytes + i * sizeof(From), sizeof(From));
    if constexpr (std::is_same_v<To, Symbol> && !std::is_same_v<From, std::uint8_t> &&
                  !std::is_same_v<From, std::uint16_t>) {
      // A comparison that a NaN fails as well.
      if (!(value >= From{0} && static_cast<double>(value) <= 65535.0)) {
        array.refuse(fmt::format("holds {} where an index between 0 and 65535 is needed", value));
      }
    }
    out[i] = static_cast<To>(value);
  }
}

}  // namespace

std::size_t item_size(NpyType type) {
  std::size_t bytes = 1;  // every type has its own
  with_type(type, [&](auto number) { bytes = sizeof(number); });
  return bytes;
}

std::optional<std::uint64_t> byte_count(std::span<const std::uint64_t> shape, std::uint64_t item) {
  std::uint64_t bytes = item;
  for (const std::uint64_t n : shape) {
    if (__builtin_mul_overflow(bytes, n, &bytes)) return std::nullopt;
  }
  return bytes;
}

bool is_integer(NpyType type) {
  return type != NpyType::f4 && type != NpyType::f8;
}

std::string npy_header(NpyType type, std::span<const std::uint64_t> shape) {
  std::string dims;
  for (const std::uint64_t n : shape) dims += fmt::format("{}, ", n);
  // Python writes a tuple of one as (n,) and longer ones without the last comma.
  if (!shape.empty()) dims.resize(dims.size() - (shape.size() == 1 ? 1 : 2));
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                 kTypeNames[static_cast<std::size_t>(type)], dims);
  // NumPy wants the numbers to start at a multiple of 64 bytes, behind a line end.
  while ((10 + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  std::string header(kNpyMagic);
  header +=
      {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return header + text;
}

NpyArray parse_npy(const FileRange& file, const std::string& name) {
  NpyArray array{name, NpyType::u1, {}, file};
  const auto [literal, data_at] = read_preamble(array);
  HeaderText text(array, literal);
  const HeaderFields fields = read_fields(array, text);
  if (!fields.descr || !fields.fortran || !fields.shape) text.malformed();
  array.type = type_of(array, *fields.descr);
  array.shape = *fields.shape;
  // With fewer than two dimensions both orders are the same.
  if (*fields.fortran && array.shape.size() > 1) {
    array.refuse("is saved in Fortran order; save np.ascontiguousarray(...) of it instead");
  }
  const std::optional<std::uint64_t> bytes = byte_count(array.shape, item_size(array.type));
  if (!bytes || *bytes > file.size - data_at) {
    array.refuse("is shorter than its shape says");
  }
  array.data = file.from(data_at);
  return array;
}

std::uint64_t NpyArray::count() const {
  return std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
}

void NpyArray::refuse(const std::string& why) const {
  throw DataError(
      fmt::format("'{}' cannot be used: its array '{}' {}.", data.file->name(), name, why));
}

template <class T>
void NpyArray::read(std::uint64_t first, std::span<T> out) const {
  const std::size_t item = item_size(type);
  const std::size_t block = std::min<std::size_t>(out.size(), (std::size_t{1} << 18) / item);
  std::vector<char> bytes(block * item);
  while (!out.empty()) {
    const std::span<T> some = out.first(std::min(block, out.size()));
    data.read(first * item, bytes.data(), some.size() * item);
    with_type(type, [&](auto number) { convert<decltype(number)>(*this, bytes.data(), some); });
    out = out.subspan(some.size());
    first += some.size();
  }
}
template void NpyArray::read(std::uint64_t first, std::span<Symbol> out) const;
template void NpyArray::read(std::uint64_t first, std::span<float> out) const;
template void NpyArray::read(std::uint64_t first, std::span<double> out) const;

void begin_npy(ZipWriter& zip, const std::string& name, NpyType type,
               std::span<const std::uint64_t> shape) {
  const std::string header = npy_header(type, shape);
  zip.begin(name + ".npy", header.size() + byte_count(shape, item_size(type)).value());
  zip.append(header);
}

void add_npy(ZipWriter& zip, const std::string& name, NpyType type,
             const std::vector<std::uint64_t>& shape, std::span<const std::byte> numbers) {
  begin_npy(zip, name, type, shape);
  zip.append(numbers.data(), numbers.size());
  zip.end();
}

}  // namespace saltus
