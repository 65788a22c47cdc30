#include <zlib.h>

#include <algorithm>
#include <cassert>

#include "io/bytes/zip.hpp"
#include "io/bytes/zip_layout.hpp"

namespace saltus {
namespace {

using zip::put;

constexpr unsigned kVersionPlain = 20, kVersionZip64 = 45;
// The first day that the format can name: the same draws give the same file, whenever it is
// written.
constexpr unsigned kTime = 0, kDate = 1 << 5 | 1;
constexpr unsigned kMadeByUnix = 3 << 8;
constexpr std::uint64_t kPlainFileMode = 0100644;

}  // namespace

void ZipWriter::begin(const std::string& name, std::uint64_t size) {
  const bool wide = size >= zip64_from_;
  ZipMember member;
  member.name = name;
  member.offset = out_.position();
  member.size = member.compressed = size;
  std::string header;
  put(header, zip::kLocalHeader, 4);
  put(header, wide ? kVersionZip64 : kVersionPlain, 2);
  put(header, 0, 2);  // flags
  put(header, zip::kStored, 2);
  put(header, kTime, 2);
  put(header, kDate, 2);
  put(header, 0, 4);  // the sum, known at the end of the member
  put(header, wide ? zip::kSee64 : size, 4);
  put(header, wide ? zip::kSee64 : size, 4);
  put(header, name.size(), 2);
  put(header, wide ? 20 : 0, 2);
  header += name;
  if (wide) {
    put(header, zip::kZip64Extra, 2);
    put(header, 16, 2);
    put(header, size, 8);
    put(header, size, 8);
  }
  out_.append(header);
  members_.push_back(member);
  written_ = 0;
}

void ZipWriter::append(const void* data, std::size_t bytes) {
  ZipMember& member = members_.back();
  member.crc = static_cast<std::uint32_t>(
      ::crc32_z(member.crc, static_cast<const unsigned char*>(data), bytes));
  out_.append(data, bytes);
  written_ += bytes;
}

void ZipWriter::end() {
  const ZipMember& member = members_.back();
  assert(written_ == member.size);
  std::string crc;
  put(crc, member.crc, 4);
  out_.overwrite(member.offset + zip::kLocalCrcAt, crc);
}

void ZipWriter::finish() {
  const std::uint64_t start = out_.position();
  for (const ZipMember& member : members_) {
    const bool wide = member.size >= zip64_from_, far = member.offset >= zip64_from_;
    std::string extra;
    if (wide) put(extra, member.size, 8), put(extra, member.size, 8);
    if (far) put(extra, member.offset, 8);
    std::string entry;
    put(entry, zip::kDirectoryEntry, 4);
    put(entry, kVersionZip64 | kMadeByUnix, 2);
    put(entry, wide || far ? kVersionZip64 : kVersionPlain, 2);
    put(entry, 0, 2);  // flags
    put(entry, zip::kStored, 2);
    put(entry, kTime, 2);
    put(entry, kDate, 2);
    put(entry, member.crc, 4);
    put(entry, wide ? zip::kSee64 : member.size, 4);
    put(entry, wide ? zip::kSee64 : member.size, 4);
    put(entry, member.name.size(), 2);
    put(entry, extra.empty() ? 0 : extra.size() + 4, 2);
    put(entry, 0, 2);  // comment
    put(entry, 0, 2);  // disk
    put(entry, 0, 2);  // internal attributes
    put(entry, kPlainFileMode << 16, 4);
    put(entry, far ? zip::kSee64 : member.offset, 4);
    entry += member.name;
    if (!extra.empty()) put(entry, zip::kZip64Extra, 2), put(entry, extra.size(), 2);
    out_.append(entry + extra);
  }
  write_end_of_directory(start, out_.position() - start);
}

void ZipWriter::write_end_of_directory(std::uint64_t start, std::uint64_t size) {
  const std::uint64_t count = members_.size();
  const bool wide = std::max(start, size) >= zip64_from_ || count >= zip::kSee64Short;
  std::string end;
  if (wide) {
    put(end, zip::kZip64DirectoryEnd, 4);
    put(end, zip::kZip64DirectoryEndBytes - 12, 8);
    put(end, kVersionZip64 | kMadeByUnix, 2);
    put(end, kVersionZip64, 2);
    put(end, 0, 4);  // this disk
    put(end, 0, 4);  // the directory's disk
    put(end, count, 8);
    put(end, count, 8);
    put(end, size, 8);
    put(end, start, 8);
    put(end, zip::kZip64Locator, 4);
    put(end, 0, 4);
    put(end, start + size, 8);
    put(end, 1, 4);  // disks
  }
  put(end, zip::kDirectoryEnd, 4);
  put(end, 0, 2);
  put(end, 0, 2);
  put(end, wide ? zip::kSee64Short : count, 2);
  put(end, wide ? zip::kSee64Short : count, 2);
  put(end, wide ? zip::kSee64 : size, 4);
  put(end, wide ? zip::kSee64 : start, 4);
  put(end, 0, 2);  // comment
  out_.append(end);
}

}  // namespace saltus
