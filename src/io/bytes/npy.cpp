#include "io/bytes/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <cstring>
#include <optional>
#include <type_traits>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

static_assert(std::endian::native == std::endian::little, "files are little-endian");

struct TypeName {
  NpyType type;
  const char* descr;
  std::size_t bytes;
};
constexpr std::array<TypeName, 10> kTypes = {{{NpyType::u1, "|u1", 1},
                                              {NpyType::u2, "<u2", 2},
                                              {NpyType::u4, "<u4", 4},
                                              {NpyType::u8, "<u8", 8},
                                              {NpyType::i1, "|i1", 1},
                                              {NpyType::i2, "<i2", 2},
                                              {NpyType::i4, "<i4", 4},
                                              {NpyType::i8, "<i8", 8},
                                              {NpyType::f4, "<f4", 4},
                                              {NpyType::f8, "<f8", 8}}};

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr std::size_t kMaxHeader = std::size_t{1} << 20;
constexpr std::size_t kMaxDimensions = 32;  // as many as NumPy has

[[noreturn]] void refuse(const FileRange& file, const std::string& name, const std::string& why) {
  throw DataError(
      fmt::format("'{}' cannot be used: its array '{}' {}.", file.file->name(), name, why));
}

// Reads the Python literal in a header: a dictionary with a string, a bool and a tuple of integers.
class HeaderText {
 public:
  HeaderText(const FileRange& file, const std::string& name, std::string_view text)
      : file_(file), name_(name), rest_(text) {}

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
  std::vector<std::uint64_t> tuple() {
    std::vector<std::uint64_t> values;
    expect("(");
    while (!accept(")")) {
      if (values.size() == kMaxDimensions) refuse(file_, name_, "has more than 32 dimensions");
      values.push_back(integer());
      if (!accept(",")) {
        expect(")");
        break;
      }
    }
    return values;
  }
  void expect_end() {
    skip_spaces();
    if (!rest_.empty()) malformed();
  }
  [[noreturn]] void malformed() const { refuse(file_, name_, "has a malformed header"); }

 private:
  std::uint64_t integer() {
    skip_spaces();
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error == std::errc::result_out_of_range) refuse(file_, name_, "has an impossible shape");
    if (error != std::errc()) malformed();
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  void skip_spaces() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_[0]))) {
      rest_.remove_prefix(1);
    }
  }

  const FileRange& file_;
  const std::string& name_;
  std::string_view rest_;
};

struct HeaderFields {
  std::optional<std::string> descr;
  std::optional<bool> fortran;
  std::optional<std::vector<std::uint64_t>> shape;
};

HeaderFields read_fields(const FileRange& file, const std::string& name, HeaderText& text) {
  HeaderFields fields;
  text.expect("{");
  while (!text.accept("}")) {
    const std::string key = text.string();
    text.expect(":");
    if (key == "descr" && !fields.descr) {
      if (text.accept("["))
        refuse(file, name, "is a structured array where plain numbers are needed");
      fields.descr = text.string();
    } else if (key == "fortran_order" && !fields.fortran) {
      fields.fortran = text.boolean();
    } else if (key == "shape" && !fields.shape) {
      fields.shape = text.tuple();
    } else {
      text.malformed();
    }
    if (!text.accept(",")) {
      text.expect("}");
      break;
    }
  }
  text.expect_end();
  return fields;
}

NpyType type_of(const FileRange& file, const std::string& name, const std::string& descr) {
  if (descr == "|b1") return NpyType::u1;  // true and false are bytes 1 and 0
  for (const TypeName& t : kTypes) {
    if (descr == t.descr) return t.type;
  }
  refuse(file, name,
         fmt::format("is of type '{}' where integers or floating-point numbers of at most 8 bytes "
                     "in little-endian order are needed",
                     descr.substr(0, 40)));
}

// The text between the fixed part of the header and the numbers, and where the numbers start.
struct Preamble {
  std::string text;
  std::uint64_t data_at;
};

Preamble read_preamble(const FileRange& file, const std::string& name) {
  std::array<unsigned char, 12> fixed = {};
  if (file.size < 10) refuse(file, name, "is too short for a NumPy array");
  file.read(0, fixed.data(), std::min<std::size_t>(fixed.size(), file.size));
  if (std::memcmp(fixed.data(), kNpyMagic.data(), kNpyMagic.size()) != 0) {
    refuse(file, name, "is no NumPy array");
  }
  const int version = fixed[6];
  if ((version != 1 && version != 2) || fixed[7] != 0) {
    refuse(file, name,
           fmt::format("is in version {}.{} of the NumPy format where 1.0 and 2.0 are known",
                       version, fixed[7]));
  }
  const std::size_t start = version == 1 ? 10 : 12;
  std::size_t length = fixed[8] | static_cast<std::size_t>(fixed[9]) << 8;
  if (version == 2) {
    length |= static_cast<std::size_t>(fixed[10]) << 16 | static_cast<std::size_t>(fixed[11]) << 24;
  }
  if (length > kMaxHeader || start > file.size || length > file.size - start) {
    refuse(file, name, "has a header that is longer than the array");
  }
  std::string text(length, '\0');
  file.read(start, text.data(), length);
  return {text, start + length};
}

// The bytes of an array, or nothing when 64 bits do not hold their number.
std::optional<std::uint64_t> byte_count(std::span<const std::uint64_t> shape, std::size_t item) {
  std::uint64_t bytes = item;
  for (const std::uint64_t n : shape) {
    if (__builtin_mul_overflow(bytes, n, &bytes)) return std::nullopt;
  }
  return bytes;
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
        refuse(array.data, array.name,
               fmt::format("holds {} where an index between 0 and 65535 is needed", value));
      }
    }
    out[i] = static_cast<To>(value);
  }
}

template <class To>
void convert_from(const NpyArray& array, const char* bytes, std::span<To> out) {
  switch (array.type) {
    case NpyType::u1:
      return convert<std::uint8_t>(array, bytes, out);
    case NpyType::u2:
      return convert<std::uint16_t>(array, bytes, out);
    case NpyType::u4:
      return convert<std::uint32_t>(array, bytes, out);
    case NpyType::u8:
      return convert<std::uint64_t>(array, bytes, out);
    case NpyType::i1:
      return convert<std::int8_t>(array, bytes, out);
    case NpyType::i2:
      return convert<std::int16_t>(array, bytes, out);
    case NpyType::i4:
      return convert<std::int32_t>(array, bytes, out);
    case NpyType::i8:
      return convert<std::int64_t>(array, bytes, out);
    case NpyType::f4:
      return convert<float>(array, bytes, out);
    case NpyType::f8:
      return convert<double>(array, bytes, out);
  }
}

template <class To>
void read_as(const NpyArray& array, std::uint64_t first, std::span<To> out) {
  const std::size_t item = item_size(array.type);
  const std::size_t block = std::min<std::size_t>(out.size(), (std::size_t{1} << 18) / item);
  std::vector<char> bytes(block * item);
  while (!out.empty()) {
    const std::size_t n = std::min(block, out.size());
    array.data.read(first * item, bytes.data(), n * item);
    convert_from(array, bytes.data(), out.first(n));
    out = out.subspan(n);
    first += n;
  }
}

}  // namespace

std::size_t item_size(NpyType type) {
  return kTypes[static_cast<std::size_t>(type)].bytes;
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
                                 kTypes[static_cast<std::size_t>(type)].descr, dims);
  // NumPy wants the numbers to start at a multiple of 64 bytes, behind a line end.
  while ((10 + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  std::string header(kNpyMagic);
  header +=
      {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return header + text;
}

NpyArray parse_npy(const FileRange& file, const std::string& name) {
  const Preamble preamble = read_preamble(file, name);
  HeaderText text(file, name, preamble.text);
  const HeaderFields fields = read_fields(file, name, text);
  if (!fields.descr || !fields.fortran || !fields.shape) text.malformed();
  const NpyType type = type_of(file, name, *fields.descr);
  // With fewer than two dimensions both orders are the same.
  if (*fields.fortran && fields.shape->size() > 1) {
    refuse(file, name, "is saved in Fortran order; save np.ascontiguousarray(...) of it instead");
  }
  const std::optional<std::uint64_t> bytes = byte_count(*fields.shape, item_size(type));
  if (!bytes || *bytes > file.size - preamble.data_at) {
    refuse(file, name, "is shorter than its shape says");
  }
  return {name, type, *fields.shape, file.from(preamble.data_at)};
}

std::uint64_t NpyArray::count() const {
  std::uint64_t n = 1;
  for (const std::uint64_t extent : shape) n *= extent;
  return n;
}

void NpyArray::read(std::uint64_t first, std::span<Symbol> out) const {
  read_as(*this, first, out);
}
void NpyArray::read(std::uint64_t first, std::span<float> out) const {
  read_as(*this, first, out);
}
void NpyArray::read(std::uint64_t first, std::span<double> out) const {
  read_as(*this, first, out);
}

}  // namespace saltus
