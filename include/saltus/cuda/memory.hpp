// Arrays in the memory of the GPU, and in memory of the host that the GPU copies from and to
// without a detour.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "saltus/cuda/check.hpp"

namespace saltus::cuda {

// All bytes are 0 at first.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(std::size_t size) : size_(size) {
    if (size == 0) return;
    void* memory = nullptr;
    check(cudaMalloc(&memory, size * sizeof(T)), "cudaMalloc");
    data_ = static_cast<T*>(memory);
    check(cudaMemset(data_, 0, size * sizeof(T)), "cudaMemset");
    settle();
  }
  explicit DeviceArray(std::span<const T> values) : DeviceArray(values.size()) {
    if (values.empty()) return;
    check(cudaMemcpy(data_, values.data(), values.size_bytes(), cudaMemcpyHostToDevice),
          "cudaMemcpy");
    settle();
  }
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~DeviceArray() { cudaFree(data_); }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }

  // Makes room for at least so many; what is there is lost when it grows.
  void grow(std::size_t size) {
    if (size > size_) *this = DeviceArray(size);
  }
  // Copies to the front, on the stream. Memory that is not pinned may change right afterwards.
  void put(cudaStream_t stream, std::span<const T> values) const {
    check(
        cudaMemcpyAsync(data_, values.data(), values.size_bytes(), cudaMemcpyHostToDevice, stream),
        "cudaMemcpyAsync");
  }
  // Copies from the front; there when the stream has got so far.
  void get(cudaStream_t stream, std::span<T> values) const {
    check(
        cudaMemcpyAsync(values.data(), data_, values.size_bytes(), cudaMemcpyDeviceToHost, stream),
        "cudaMemcpyAsync");
  }

 private:
  // Other streams do not wait for the default one, which was used here.
  static void settle() { check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize"); }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

template <class T>
class PinnedArray {
 public:
  PinnedArray() = default;
  explicit PinnedArray(std::size_t size) : size_(size) {
    if (size == 0) return;
    void* memory = nullptr;
    check(cudaMallocHost(&memory, size * sizeof(T)), "cudaMallocHost");
    data_ = static_cast<T*>(memory);
  }
  PinnedArray(PinnedArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  PinnedArray& operator=(PinnedArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~PinnedArray() { cudaFreeHost(data_); }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  void grow(std::size_t size) {
    if (size > size_) *this = PinnedArray(size);
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace saltus::cuda
