// Files as bytes: read at any offset by several threads at once, written by buffered appends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "saltus/core/descriptor.hpp"

namespace saltus {

class InputFile {
 public:
  // Throws FileError when it cannot be opened or is not a plain file.
  explicit InputFile(const std::filesystem::path& path);
  InputFile(Descriptor fd, std::string name);

  // Throws DataError when the file ends before offset + bytes.
  void read(std::uint64_t offset, void* out, std::size_t bytes) const;
  std::uint64_t size() const { return size_; }
  const std::string& name() const { return name_; }  // as the user knows it

 private:
  Descriptor fd_;
  std::string name_;
  std::uint64_t size_ = 0;
};

// A part of a file, read as if it were a file of its own.
struct FileRange {
  std::shared_ptr<const InputFile> file;
  std::uint64_t offset = 0, size = 0;

  void read(std::uint64_t at, void* out, std::size_t bytes) const;
  FileRange from(std::uint64_t at) const;  // all that lies behind `at`
};

class OutputFile {
 public:
  // Empties the file at `path`, which is there (NewFile makes it); errors name it `name`, because
  // `path` is a temporary one that the user does not know.
  OutputFile(const std::filesystem::path& path, std::string name);
  // A file without a name in the temporary folder: it disappears with its last descriptor.
  static OutputFile unnamed(std::string name);

  void append(const void* data, std::size_t bytes);
  void append(const std::string& text) { append(text.data(), text.size()); }
  // Replaces bytes that were appended before.
  void overwrite(std::uint64_t offset, const std::string& bytes);
  std::uint64_t position() const { return flushed_ + buffer_.size(); }
  void close();
  // Ends the writing; what was written can be read from the result.
  FileRange reopen();

 private:
  OutputFile(Descriptor fd, std::string name);
  void flush();
  void write_at(std::uint64_t offset, const char* data, std::size_t bytes);
  [[noreturn]] void fail() const;

  Descriptor fd_;
  std::string name_;
  std::vector<char> buffer_;
  std::uint64_t flushed_ = 0;
};

// Tells other contents from these; see core/checksum.hpp. Throws FileError.
std::string checksum_of_file(const std::filesystem::path& path);

// Writes a file anew: it is the old one or the new one, never half of one. Throws FileError.
void replace_file(const std::filesystem::path& path, const std::function<void(OutputFile&)>& write);
void replace_file(const std::filesystem::path& path, const std::string& text);

}  // namespace saltus
