#include "io/bytes/new_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <random>
#include <string_view>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

constexpr int kTries = 100;
constexpr std::size_t kDigits = 16;
constexpr std::size_t kLongestName = 200;  // a file system allows 255 bytes

[[noreturn]] void cannot_write(const std::filesystem::path& path, const std::string& why) {
  throw FileError(fmt::format("cannot write '{}': {}.", path.string(), why), true);
}

std::filesystem::path folder_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : ".";
}

// Where a symbolic link leads, or the path itself.
std::filesystem::path followed(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_symlink(path, ignored)) return path;
  check_writable(path);
  return std::filesystem::canonical(path, ignored);
}

// ".NAME." before the digits, ".tmp" behind them.
std::string prefix_of(const std::filesystem::path& target) {
  return "." + target.filename().string().substr(0, kLongestName) + ".";
}

void sync_folder(const std::filesystem::path& folder) {
  const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() >= 0) ::fsync(fd.get());
}

constexpr std::string_view kContent = "saltus lock\n";

// Empty: made by a process that was killed before it wrote.
bool is_ours(int fd, off_t size) {
  std::array<char, kContent.size()> text{};
  if (size == 0) return true;
  return size == static_cast<off_t>(text.size()) &&
         ::pread(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) &&
         std::string_view(text.data(), text.size()) == kContent;
}

}  // namespace

void check_writable(const std::filesystem::path& file) {
  struct stat status = {};
  if (::stat(file.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) cannot_write(file, "it is a folder");
    if (!S_ISREG(status.st_mode)) cannot_write(file, "it is not a regular file");
  } else if (::lstat(file.c_str(), &status) == 0) {
    cannot_write(file, "it is a link that leads nowhere");
  }
  if (::access(folder_of(file).c_str(), W_OK) != 0) cannot_write(file, std::strerror(errno));
}

std::filesystem::path temporary_folder() {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  return error ? "/tmp" : folder;
}

std::string random_digits() {
  static_assert(sizeof(std::random_device::result_type) == 4);
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

NewFile::NewFile(const std::filesystem::path& target) : target_(followed(target)) {
  check_writable(target_);
  struct stat old = {};
  const bool replaces = ::stat(target_.c_str(), &old) == 0;
  Descriptor fd;
  for (int tries = 0; fd.get() < 0; ++tries) {
    path_ = target_;
    path_.replace_filename(prefix_of(target_) + random_digits() + ".tmp");
    fd = Descriptor(
        ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (fd.get() < 0 && (errno != EEXIST || tries == kTries)) {
      cannot_write(target, std::strerror(errno));
    }
  }
  // As the file that it replaces; where that is not allowed, as any new file.
  if (replaces) static_cast<void>(::fchmod(fd.get(), old.st_mode & 07777));
}

NewFile::~NewFile() {
  if (!kept_) ::unlink(path_.c_str());
}

void NewFile::keep() {
  const Descriptor fd(::open(path_.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC));
  if (fd.get() < 0 || ::fsync(fd.get()) != 0 || ::rename(path_.c_str(), target_.c_str()) != 0) {
    cannot_write(target_, std::strerror(errno));
  }
  kept_ = true;
  sync_folder(folder_of(target_));
}

void remove_abandoned(const std::filesystem::path& target) {
  const std::string prefix = prefix_of(target), suffix = ".tmp";
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder_of(target), none)) {
    const std::string name = entry.path().filename().string();
    if (name.size() != prefix.size() + kDigits + suffix.size() || !name.starts_with(prefix) ||
        !name.ends_with(suffix)) {
      continue;
    }
    const std::string digits = name.substr(prefix.size(), kDigits);
    if (digits.find_first_not_of("0123456789abcdef") == std::string::npos) {
      ::unlink(entry.path().c_str());
    }
  }
}

bool same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code failure;
  if (std::filesystem::equivalent(a, b, failure) && !failure) return true;
  return std::filesystem::weakly_canonical(std::filesystem::absolute(a), failure) ==
         std::filesystem::weakly_canonical(std::filesystem::absolute(b), failure);
}

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
    cannot_write(path_, std::strerror(errno));
  }
  if (!S_ISREG(opened.st_mode)) {
    cannot_write(path_, "it is not a regular file");
  }
  if (::flock(fd_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return true;  // a file system without locks
    throw FileError(fmt::format("another run is using '{}'.", file.string()), true);
  }
  if (::stat(path_.c_str(), &named) != 0 || named.st_ino != opened.st_ino ||
      named.st_dev != opened.st_dev) {
    return false;
  }
  ::fstat(fd_.get(), &opened);
  if (!is_ours(fd_.get(), opened.st_size)) {
    throw FileError(fmt::format("'{}' is needed as a lock, but it is a file of something else.",
                                path_.string()),
                    true);
  }
  held_ = true;
  // An empty lock is a lock, too: on a full disk, say.
  return ::pwrite(fd_.get(), kContent.data(), kContent.size(), 0) >= 0 || held_;
}

FileLock::~FileLock() {
  if (held_) ::unlink(path_.c_str());  // while the lock is held: nobody else can have taken it
}

}  // namespace saltus
