// Include this where two processes must not use a file at the same time.
#pragma once

#include <filesystem>

#include "io/bytes/byte_file.hpp"

namespace saltus {

// Holds the lock of `file` for as long as it lives. The lock is that of a file beside it,
// FILE.lock, because a checkpoint is replaced by a new file at every save. The system releases it
// when the process ends, however it ends; a FILE.lock that a killed process left behind does no
// harm.
class FileLock {
 public:
  // Throws FileError when another process holds the lock, or when FILE.lock is not ours.
  explicit FileLock(const std::filesystem::path& file);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  // False on a file system that has no locks: nothing then keeps another process away.
  bool held() const { return held_; }

  static std::filesystem::path path_of(const std::filesystem::path& file);

 private:
  bool try_once(const std::filesystem::path& file);

  std::filesystem::path path_;
  Descriptor fd_;
  bool held_ = false;
};

}  // namespace saltus
