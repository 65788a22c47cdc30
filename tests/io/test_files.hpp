// Files and folders for tests.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "io/bytes/byte_file.hpp"
#include "saltus/core/error.hpp"

namespace saltus {

// A folder that is removed with its content.
class TestFolder {
 public:
  TestFolder() {
    static std::atomic<int> counter{0};
    path_ = std::filesystem::temp_directory_path() /
            ("saltus-test-" + std::to_string(::getpid()) + "-" + std::to_string(counter++));
    std::filesystem::create_directory(path_);
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  std::ptrdiff_t entries() const {
    return std::distance(std::filesystem::directory_iterator(path_), {});
  }

 private:
  std::filesystem::path path_;
};

inline FileRange file_of(const std::string& bytes) {
  OutputFile out = OutputFile::unnamed("test.npz");
  out.append(bytes);
  return out.reopen();
}

inline std::string content_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::string content_of(const FileRange& range) {
  std::string bytes(range.size, '\0');
  range.read(0, bytes.data(), bytes.size());
  return bytes;
}

inline void fill_file(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// The message of the DataError that f must throw.
inline std::string data_error(const std::function<void()>& f) {
  try {
    f();
  } catch (const DataError& error) {
    return error.what();
  }
  ADD_FAILURE() << "no DataError";
  return "";
}

// True when f succeeds; false when it refuses in a way that users are told of. All else passes on.
inline bool succeeds(const std::function<void()>& f) {
  try {
    f();
  } catch (const DataError&) {
    return false;
  } catch (const FileError&) {
    return false;
  }
  return true;
}

inline testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << text << "' does not contain '" << part << "'";
}

}  // namespace saltus
