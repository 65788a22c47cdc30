#include "io/bytes/zip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cassert>
#include <initializer_list>

#include "io/bytes/gzip.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

using zip::get;
using zip::get16;
using zip::get32;

constexpr unsigned kVersionPlain = 20, kVersionZip64 = 45;
// The first day that the format can name: the same draws give the same file, whenever it is
// written.
constexpr unsigned kTime = 0, kDate = 1 << 5 | 1;
constexpr unsigned kMadeByUnix = 3 << 8;
constexpr std::uint64_t kPlainFileMode = 0100644;
constexpr std::uint64_t kNone = 0;  // flags, comments, attributes; the number of the only disk

// Whole numbers, each stored in the given number of bytes.
template <int bytes>
std::string packed(std::initializer_list<std::uint64_t> numbers) {
  std::string text;
  for (const std::uint64_t number : numbers) zip::put(text, number, bytes);
  return text;
}

// Files of draws have a handful of members: a directory beyond this is none of ours.
constexpr std::uint64_t kMaxDirectoryBytes = std::uint64_t{1} << 24;

[[noreturn]] void damaged(const InputFile& file, const char* why) {
  throw DataError(fmt::format("'{}' is not a sound ZIP archive: {}.", file.name(), why));
}

std::string bytes_at(const InputFile& file, std::uint64_t at, std::size_t bytes) {
  std::string text(bytes, '\0');
  file.read(at, text.data(), bytes);
  return text;
}

struct Directory {
  std::uint64_t at = 0, size = 0;
};

// The end record is followed by a comment of unknown length, so it is searched from behind.
std::uint64_t find_end(const InputFile& file) {
  const std::uint64_t tail = std::min<std::uint64_t>(file.size(), zip::kDirectoryEndBytes + 0xffff);
  const std::string text = bytes_at(file, file.size() - tail, static_cast<std::size_t>(tail));
  for (std::size_t behind = zip::kDirectoryEndBytes; behind <= text.size(); ++behind) {
    const std::size_t at = text.size() - behind;
    if (get32(text, at) == zip::kDirectoryEnd &&
        get16(text, at + 20) + zip::kDirectoryEndBytes == behind) {
      return file.size() - behind;
    }
  }
  damaged(file, "it has no directory at its end, as if it were cut off");
}

Directory find_zip64_directory(const InputFile& file, std::uint64_t end) {
  if (end < zip::kZip64LocatorBytes) damaged(file, "its 64-bit directory is missing");
  const std::string locator =
      bytes_at(file, end - zip::kZip64LocatorBytes, zip::kZip64LocatorBytes);
  if (get32(locator, 0) != zip::kZip64Locator) damaged(file, "its 64-bit directory is missing");
  const std::uint64_t at = get(locator, 8, 8);
  if (at > end || end - at < zip::kZip64DirectoryEndBytes) {
    damaged(file, "its 64-bit directory lies outside of the file");
  }
  const std::string record = bytes_at(file, at, zip::kZip64DirectoryEndBytes);
  if (get32(record, 0) != zip::kZip64DirectoryEnd) damaged(file, "its 64-bit directory is missing");
  return {get(record, 48, 8), get(record, 40, 8)};
}

Directory find_directory(const InputFile& file) {
  const std::uint64_t end = find_end(file);
  const std::string record = bytes_at(file, end, zip::kDirectoryEndBytes);
  if (get16(record, 4) != get16(record, 6)) damaged(file, "it is split over several files");
  Directory directory = {get32(record, 16), get32(record, 12)};
  if (directory.at == zip::kSee64 || directory.size == zip::kSee64 ||
      get16(record, 10) == zip::kSee64Short) {
    directory = find_zip64_directory(file, end);
  }
  if (directory.at > end || directory.size > end - directory.at) {
    damaged(file, "its directory lies outside of the file");
  }
  if (directory.size > kMaxDirectoryBytes) damaged(file, "its directory is too large");
  return directory;
}

// Takes the 64-bit forms of a member's numbers from the extra fields, in the order of the format.
void read_zip64_extra(const InputFile& file, const std::string& extra, ZipMember& member) {
  std::size_t at = 0;
  while (extra.size() - at >= 4) {
    const std::size_t id = get16(extra, at), length = get16(extra, at + 2);
    at += 4;
    if (length > extra.size() - at) damaged(file, "an entry of its directory is malformed");
    const std::size_t field_end = at + length;
    if (id == zip::kZip64Extra) {
      for (std::uint64_t* number : {&member.size, &member.compressed, &member.offset}) {
        if (*number != zip::kSee64) continue;
        if (field_end - at < 8) damaged(file, "an entry of its directory is malformed");
        *number = get(extra, at, 8);
        at += 8;
      }
    }
    at = field_end;
  }
}

std::vector<ZipMember> read_members(const InputFile& file, const std::string& directory) {
  std::vector<ZipMember> members;
  std::size_t at = 0;
  while (at < directory.size()) {
    if (directory.size() - at < zip::kDirectoryEntryBytes ||
        get32(directory, at) != zip::kDirectoryEntry) {
      damaged(file, "an entry of its directory is malformed");
    }
    const std::size_t name = get16(directory, at + 28), extra = get16(directory, at + 30);
    const std::size_t length = zip::kDirectoryEntryBytes + name + extra + get16(directory, at + 32);
    if (length > directory.size() - at) damaged(file, "an entry of its directory is malformed");
    ZipMember member;
    member.flags = get16(directory, at + 8);
    member.method = get16(directory, at + 10);
    member.crc = get32(directory, at + 16);
    member.compressed = get32(directory, at + 20);
    member.size = get32(directory, at + 24);
    member.offset = get32(directory, at + 42);
    member.name = directory.substr(at + zip::kDirectoryEntryBytes, name);
    read_zip64_extra(file, directory.substr(at + zip::kDirectoryEntryBytes + name, extra), member);
    members.push_back(member);
    at += length;
  }
  return members;
}

}  // namespace

void ZipWriter::begin(const std::string& name, std::uint64_t size) {
  const bool wide = size >= zip64_from_;
  const std::uint64_t narrow = wide ? zip::kSee64 : size, sum_at_the_end = 0;
  members_.push_back({.name = name, .compressed = size, .size = size, .offset = out_.position()});
  out_.append(packed<4>({zip::kLocalHeader}) +
              packed<2>({wide ? kVersionZip64 : kVersionPlain, kNone, zip::kStored, kTime, kDate}) +
              packed<4>({sum_at_the_end, narrow, narrow}) +
              packed<2>({name.size(), wide ? 20U : 0U}) + name);
  if (wide) out_.append(packed<2>({zip::kZip64Extra, 16}) + packed<8>({size, size}));
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
  out_.overwrite(member.offset + zip::kLocalCrcAt, packed<4>({member.crc}));
}

void ZipWriter::finish() {
  const std::uint64_t start = out_.position();
  for (const ZipMember& member : members_) {
    const bool wide = member.size >= zip64_from_, far = member.offset >= zip64_from_;
    const std::uint64_t narrow = wide ? zip::kSee64 : member.size;
    std::string extra;
    if (wide) extra += packed<8>({member.size, member.size});
    if (far) extra += packed<8>({member.offset});
    if (!extra.empty()) extra = packed<2>({zip::kZip64Extra, extra.size()}) + extra;
    out_.append(packed<4>({zip::kDirectoryEntry}) +
                packed<2>({kVersionZip64 | kMadeByUnix, wide || far ? kVersionZip64 : kVersionPlain,
                           kNone, zip::kStored, kTime, kDate}) +
                packed<4>({member.crc, narrow, narrow}) +
                packed<2>({member.name.size(), extra.size(), kNone, kNone, kNone}) +
                packed<4>({kPlainFileMode << 16, far ? zip::kSee64 : member.offset}) + member.name +
                extra);
  }
  write_end_of_directory(start, out_.position() - start);
}

void ZipWriter::write_end_of_directory(std::uint64_t start, std::uint64_t size) {
  const std::uint64_t count = members_.size();
  const bool wide = std::max(start, size) >= zip64_from_ || count >= zip::kSee64Short;
  if (wide) {
    constexpr std::uint64_t kDisks = 1, kRest = zip::kZip64DirectoryEndBytes - 12;
    out_.append(packed<4>({zip::kZip64DirectoryEnd}) + packed<8>({kRest}) +
                packed<2>({kVersionZip64 | kMadeByUnix, kVersionZip64}) +
                packed<4>({kNone, kNone}) + packed<8>({count, count, size, start}) +
                packed<4>({zip::kZip64Locator, kNone}) + packed<8>({start + size}) +
                packed<4>({kDisks}));
  }
  const std::uint64_t few = wide ? zip::kSee64Short : count;
  out_.append(packed<4>({zip::kDirectoryEnd}) + packed<2>({kNone, kNone, few, few}) +
              packed<4>({wide ? zip::kSee64 : size, wide ? zip::kSee64 : start}) +
              packed<2>({kNone}));
}

ZipReader::ZipReader(std::shared_ptr<const InputFile> file) : file_(std::move(file)) {
  const Directory directory = find_directory(*file_);
  directory_at_ = directory.at;
  members_ = read_members(*file_,
                          bytes_at(*file_, directory.at, static_cast<std::size_t>(directory.size)));
}

const ZipMember* ZipReader::find(const std::string& name) const {
  const auto found = std::find_if(members_.begin(), members_.end(),
                                  [&](const ZipMember& m) { return m.name == name; });
  return found == members_.end() ? nullptr : &*found;
}

// Where the bytes of a member lie: behind its own header, whose length can differ from that of its
// entry in the directory.
FileRange ZipReader::packed(const ZipMember& member) const {
  if (member.offset > directory_at_ || directory_at_ - member.offset < zip::kLocalHeaderBytes) {
    damaged(*file_, "a member lies outside of the file");
  }
  const std::string header = bytes_at(*file_, member.offset, zip::kLocalHeaderBytes);
  const std::uint64_t start =
      member.offset + zip::kLocalHeaderBytes + get16(header, 26) + get16(header, 28);
  if (get32(header, 0) != zip::kLocalHeader || get16(header, 26) != member.name.size()) {
    damaged(*file_, "a member is not where the directory says");
  }
  if (start > directory_at_ || member.compressed > directory_at_ - start) {
    damaged(*file_, "a member lies outside of the file");
  }
  if (bytes_at(*file_, member.offset + zip::kLocalHeaderBytes, member.name.size()) != member.name) {
    damaged(*file_, "a member is not where the directory says");
  }
  return {file_, start, member.compressed};
}

FileRange ZipReader::open(const std::string& name) const {
  const ZipMember* member = find(name);
  if (member == nullptr) {
    throw DataError(fmt::format("'{}' has no member '{}'.", file_->name(), name));
  }
  if (member->flags & zip::kEncryptedFlag) damaged(*file_, "it is encrypted");
  FileRange range = packed(*member);
  if (member->method == zip::kDeflated) {
    return inflate_to_file(range, member->size, member->crc, name);
  }
  if (member->method != zip::kStored) {
    damaged(*file_, "it is compressed by a method other than deflate");
  }
  if (member->compressed != member->size) damaged(*file_, "a stored member has two sizes");
  check_sum(range, member->crc, name);
  return range;
}

}  // namespace saltus
