// Owns a file descriptor and closes it.
#pragma once

#include <utility>

namespace saltus {

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { reset(); }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  bool reset();  // closes; false when the system reports an error that write() had not

 private:
  int fd_;
};

}  // namespace saltus
