#include "io/bytes/file_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

constexpr std::string_view kContent = "saltus lock\n";

[[noreturn]] void refuse(const std::string& why) {
  throw FileError(why, true);
}

// Empty: made by a process that was killed before it wrote.
bool is_ours(int fd, off_t size) {
  std::array<char, kContent.size()> text{};
  if (size == 0) return true;
  return size == static_cast<off_t>(text.size()) &&
         ::pread(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) &&
         std::string_view(text.data(), text.size()) == kContent;
}

}  // namespace

std::filesystem::path FileLock::path_of(const std::filesystem::path& file) {
  return file.string() + ".lock";
}

FileLock::FileLock(const std::filesystem::path& file) : path_(path_of(file)) {
  while (!try_once(file)) {
  }
}

// False when the lock file was removed by its last owner between our opening and our locking it.
bool FileLock::try_once(const std::filesystem::path& file) {
  fd_ = Descriptor(
      ::open(path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666));
  struct stat opened = {}, named = {};
  if (fd_.get() < 0 || ::fstat(fd_.get(), &opened) != 0) {
    refuse(fmt::format("cannot write '{}': {}.", path_.string(), std::strerror(errno)));
  }
  if (!S_ISREG(opened.st_mode)) {
    refuse(fmt::format("cannot write '{}': it is not a regular file.", path_.string()));
  }
  if (::flock(fd_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) refuse(fmt::format("another run is using '{}'.", file.string()));
    return true;  // a file system without locks
  }
  if (::stat(path_.c_str(), &named) != 0 || named.st_ino != opened.st_ino ||
      named.st_dev != opened.st_dev) {
    return false;
  }
  ::fstat(fd_.get(), &opened);
  if (!is_ours(fd_.get(), opened.st_size)) {
    refuse(fmt::format("'{}' is needed as a lock, but it is a file of something else.",
                       path_.string()));
  }
  held_ = true;
  // An empty lock is a lock, too: on a full disk, say.
  return ::pwrite(fd_.get(), kContent.data(), kContent.size(), 0) >= 0 || held_;
}

FileLock::~FileLock() {
  if (held_) ::unlink(path_.c_str());  // while the lock is held: nobody else can have taken it
}

}  // namespace saltus
