#include "saltus/core/bytes.hpp"

#include <utility>

namespace saltus {
namespace {

// A list of units as bytes: their number, their lengths, and what they hold.
struct UnitList {
  std::vector<std::size_t> lengths;
  std::span<const std::byte> units;
  std::size_t size = 0;  // of all of it

  explicit UnitList(std::span<const std::byte> bytes) {
    ByteReader in(bytes);
    lengths.resize(in.next_array_length(sizeof(std::size_t)));
    in.get_array(std::span(lengths));
    const std::size_t begin = (1 + lengths.size()) * sizeof(std::size_t);
    size = begin;
    for (const std::size_t length : lengths) {
      if (length > bytes.size() - size) throw DataError("it ends too early");
      size += length;
    }
    units = bytes.subspan(begin, size - begin);
  }
};

// ByteWriter::part, taken apart.
struct Part {
  std::vector<std::size_t> lists;
  std::span<const std::byte> bytes;

  explicit Part(std::span<const std::byte> part) {
    ByteReader in(part);
    lists.resize(in.next_array_length(sizeof(std::size_t)));
    in.get_array(std::span(lists));
    bytes = part.subspan((1 + lists.size()) * sizeof(std::size_t));
  }
};

void extend(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

}  // namespace

void ByteWriter::end_units() {
  ByteWriter table;
  table.put_array(std::span<const std::size_t>(lengths_));
  bytes_.insert(bytes_.begin() + static_cast<std::ptrdiff_t>(units_begin_), table.bytes_.begin(),
                table.bytes_.end());
  lists_.push_back(units_begin_);
  lengths_.clear();
}

std::vector<std::byte> ByteWriter::part() const {
  ByteWriter out;
  out.put_array(std::span<const std::size_t>(lists_));
  extend(out.bytes_, bytes_);
  return std::move(out.bytes_);
}

std::vector<std::byte> join_parts(std::span<const std::vector<std::byte>> parts) {
  std::vector<Part> all(parts.begin(), parts.end());
  const Part& first = all.front();
  std::vector<std::byte> joined;
  std::size_t done = 0;  // of the first part
  for (std::size_t l = 0; l < first.lists.size(); ++l) {
    extend(joined, first.bytes.subspan(done, first.lists[l] - done));
    std::vector<std::size_t> lengths;
    std::vector<std::byte> units;
    for (const Part& part : all) {
      const UnitList list(part.bytes.subspan(part.lists.at(l)));
      lengths.insert(lengths.end(), list.lengths.begin(), list.lengths.end());
      extend(units, list.units);
      if (&part == &first) done = first.lists[l] + list.size;
    }
    ByteWriter table;
    table.put_array(std::span<const std::size_t>(lengths));
    extend(joined, table.bytes());
    extend(joined, units);
  }
  extend(joined, first.bytes.subspan(done));
  return joined;
}

ByteReader ByteReader::units(std::size_t count, std::size_t chains_each) {
  const UnitList list(rest_);
  const std::size_t first = first_chain_ / chains_each;
  const std::size_t all = chains_ ? (chains_ + chains_each - 1) / chains_each : count;
  if (list.lengths.size() != all || first + count > all) {
    throw DataError("an array has the wrong length");
  }
  std::size_t begin = 0, size = 0;
  for (std::size_t u = 0; u < first; ++u) begin += list.lengths[u];
  for (std::size_t u = first; u < first + count; ++u) size += list.lengths[u];
  rest_ = rest_.subspan(list.size);
  return ByteReader(list.units.subspan(begin, size));
}

}  // namespace saltus
