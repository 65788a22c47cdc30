// Include this to replace a file in one step (the name holds the old content or the new one, never
// half of one, whatever ends the program in between) or to keep other processes away from it.
#pragma once

#include <filesystem>
#include <string>

#include "saltus/core/descriptor.hpp"

namespace saltus {

// Refuses, with a FileError, a place that no file can be written to: a folder, a device, a pipe, a
// link that leads nowhere, or a folder that cannot be written to.
void check_writable(const std::filesystem::path& file);

// The folder for temporary files: $TMPDIR, or /tmp where that is no folder.
std::filesystem::path temporary_folder();

// Digits that no other process chooses: for names in a folder that several programs use.
std::string random_digits();

// An empty file beside `target`, made exclusively under a random name. It is removed again unless
// it takes the target's name. A symbolic link at `target` is followed, so that the link stays.
class NewFile {
 public:
  explicit NewFile(const std::filesystem::path& target);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  // Where to write.
  const std::filesystem::path& path() const { return path_; }

  // Gives the content the target's name. It reaches the disk before the name does.
  void keep();

 private:
  std::filesystem::path target_, path_;
  bool kept_ = false;
};

// Removes what killed processes left of new files for `target`. The caller knows that none is
// being written.
void remove_abandoned(const std::filesystem::path& target);

// By whatever name or link; also of files that are not there yet.
bool same_file(const std::filesystem::path& a, const std::filesystem::path& b);

// Keeps two processes from using a file at the same time: holds the lock of `file` for as long as
// it lives. The lock is that of a file beside it, FILE.lock, because a checkpoint is replaced by a
// new file at every save. The system releases it when the process ends, however it ends; a
// FILE.lock that a killed process left behind does no harm.
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
