#include "io/bytes/byte_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/checksum.hpp"
#include "io/bytes/new_file.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

std::string reason() {
  return std::strerror(errno);
}

// O_NONBLOCK keeps the open of a pipe without a writer from waiting for ever.
constexpr int kToRead = O_RDONLY | O_NONBLOCK | O_CLOEXEC;
constexpr int kToWrite = O_RDWR | O_TRUNC | O_NOFOLLOW | O_CLOEXEC;

Descriptor opened(const std::filesystem::path& path, int flags, const std::string& name) {
  Descriptor fd(::open(path.c_str(), flags));
  if (fd.get() >= 0) return fd;
  const bool write = flags == kToWrite;
  throw FileError(fmt::format("cannot {} '{}': {}.", write ? "write" : "open", name, reason()),
                  write);
}

}  // namespace

bool Descriptor::reset() {
  const int fd = release();
  return fd < 0 || ::close(fd) == 0;
}

InputFile::InputFile(const std::filesystem::path& path)
    : InputFile(opened(path, kToRead, path.string()), path.string()) {}

InputFile::InputFile(Descriptor fd, std::string name) : fd_(std::move(fd)), name_(std::move(name)) {
  struct stat status = {};
  if (::fstat(fd_.get(), &status) != 0) {
    throw FileError(fmt::format("cannot open '{}': {}.", name_, reason()), false);
  }
  if (!S_ISREG(status.st_mode)) {
    throw FileError(fmt::format("cannot open '{}': it is not a regular file.", name_), false);
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

void InputFile::read(std::uint64_t offset, void* out, std::size_t bytes) const {
  if (offset > size_ || bytes > size_ - offset) {
    throw DataError(fmt::format("'{}' is damaged: it ends too early.", name_));
  }
  char* to = static_cast<char*>(out);
  while (bytes > 0) {
    const ssize_t got = ::pread(fd_.get(), to, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw FileError(fmt::format("cannot read '{}': {}.", name_, reason()), false);
    if (got == 0) throw DataError(fmt::format("'{}' became shorter while it was read.", name_));
    to += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
}

void FileRange::read(std::uint64_t at, void* out, std::size_t bytes) const {
  if (at > size || bytes > size - at) {
    throw DataError(fmt::format("'{}' is damaged: a part of it ends too early.", file->name()));
  }
  file->read(offset + at, out, bytes);
}

FileRange FileRange::from(std::uint64_t at) const {
  const std::uint64_t skipped = std::min(at, size);
  return {file, offset + skipped, size - skipped};
}

OutputFile::OutputFile(const std::filesystem::path& path, std::string name)
    : OutputFile(opened(path, kToWrite, name), name) {}

OutputFile::OutputFile(Descriptor fd, std::string name)
    : fd_(std::move(fd)), name_(std::move(name)) {
  buffer_.reserve(kBufferBytes);
}

OutputFile OutputFile::unnamed(std::string name) {
  const std::filesystem::path folder = temporary_folder();
  std::string pattern = (folder / "saltus-XXXXXX").string();
  Descriptor fd(::mkostemp(pattern.data(), O_CLOEXEC));
  if (fd.get() < 0) {
    throw FileError(fmt::format("cannot make a temporary file in '{}' to read '{}': {}.",
                                folder.string(), name, reason()),
                    false);
  }
  ::unlink(pattern.c_str());
  return OutputFile(std::move(fd), std::move(name));
}

void OutputFile::fail() const {
  throw FileError(fmt::format("cannot write '{}': {}.", name_, reason()), true);
}

void OutputFile::write_at(std::uint64_t offset, const char* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t put = ::pwrite(fd_.get(), data, bytes, static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail();
    data += put;
    offset += static_cast<std::uint64_t>(put);
    bytes -= static_cast<std::size_t>(put);
  }
}

void OutputFile::flush() {
  write_at(flushed_, buffer_.data(), buffer_.size());
  flushed_ += buffer_.size();
  buffer_.clear();
}

void OutputFile::append(const void* data, std::size_t bytes) {
  const char* from = static_cast<const char*>(data);
  if (buffer_.size() + bytes > kBufferBytes) flush();
  if (bytes >= kBufferBytes) {
    write_at(flushed_, from, bytes);
    flushed_ += bytes;
  } else {
    buffer_.insert(buffer_.end(), from, from + bytes);
  }
}

void OutputFile::overwrite(std::uint64_t offset, const std::string& bytes) {
  flush();
  write_at(offset, bytes.data(), bytes.size());
}

void OutputFile::close() {
  flush();
  if (!fd_.reset()) fail();
}

FileRange OutputFile::reopen() {
  flush();
  auto file = std::make_shared<const InputFile>(std::move(fd_), name_);
  return {file, 0, file->size()};
}

std::string checksum_of_file(const std::filesystem::path& path) {
  const InputFile file(path);
  Checksum sum;
  std::vector<char> block(kBufferBytes);
  for (std::uint64_t at = 0; at < file.size(); at += block.size()) {
    const auto n =
        static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), file.size() - at));
    file.read(at, block.data(), n);
    sum.add_bytes(block.data(), n);
  }
  return sum.text();
}

void replace_file(const std::filesystem::path& path,
                  const std::function<void(OutputFile&)>& write) {
  NewFile file(path);
  OutputFile out(file.path(), path.string());
  write(out);
  out.close();
  file.keep();
}

void replace_file(const std::filesystem::path& path, const std::string& text) {
  replace_file(path, [&](OutputFile& out) { out.append(text); });
}

}  // namespace saltus
