// Arrays in the memory of the GPU, and in memory of the host that the GPU copies from and to
// without a detour.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "saltus/cuda/check.hpp"

namespace saltus::cuda {

// Memory that `take` gives and `give_back` frees.
template <class T, void* (*take)(std::size_t bytes), cudaError_t (*give_back)(void*)>
class OwnedArray {
 public:
  OwnedArray() = default;
  explicit OwnedArray(std::size_t size) : size_(size) {
    if (size > 0) data_ = static_cast<T*>(take(size * sizeof(T)));
  }
  OwnedArray(OwnedArray&& other) noexcept { *this = std::move(other); }
  OwnedArray& operator=(OwnedArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~OwnedArray() { give_back(data_); }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  // Makes room for at least `size` entries; growing loses the content.
  void grow(std::size_t size) {
    if (size > size_) *this = OwnedArray(size);
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

inline void* take_pinned(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMallocHost(&memory, bytes), "cudaMallocHost");
  return memory;
}
// Other streams do not wait for the default one, which is used here.
inline void settle_default_stream() {
  check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
}
inline void* take_on_device(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "cudaMalloc");
  check(cudaMemset(memory, 0, bytes), "cudaMemset");
  settle_default_stream();
  return memory;
}

template <class T>
using PinnedArray = OwnedArray<T, take_pinned, cudaFreeHost>;

// All bytes are 0 at first.
template <class T>
class DeviceArray : public OwnedArray<T, take_on_device, cudaFree> {
 public:
  using OwnedArray<T, take_on_device, cudaFree>::OwnedArray;
  using OwnedArray<T, take_on_device, cudaFree>::data;
  explicit DeviceArray(std::span<const T> values) : DeviceArray(values.size()) {
    put(nullptr, values);
    settle_default_stream();
  }

  // Copies to the front, on the stream. Memory that is not pinned may change right afterwards.
  void put(cudaStream_t stream, std::span<const T> values) const {
    copy(data(), values.data(), values.size_bytes(), cudaMemcpyHostToDevice, stream);
  }
  // Copies from the front; there when the stream has got so far.
  void get(cudaStream_t stream, std::span<T> values) const {
    copy(values.data(), data(), values.size_bytes(), cudaMemcpyDeviceToHost, stream);
  }
  // The same of saltus::Rows, which lie one behind the other in the array.
  template <class Rows>
  void put_rows(cudaStream_t stream, const Rows& rows) const {
    const Pitch p(rows);
    check(cudaMemcpy2DAsync(data(), p.width, rows.data, p.stride, p.width, p.rows,
                            cudaMemcpyHostToDevice, stream),
          "cudaMemcpy2DAsync");
  }
  template <class Rows>
  void get_rows(cudaStream_t stream, const Rows& rows) const {
    const Pitch p(rows);
    check(cudaMemcpy2DAsync(rows.data, p.stride, data(), p.width, p.width, p.rows,
                            cudaMemcpyDeviceToHost, stream),
          "cudaMemcpy2DAsync");
  }

 private:
  struct Pitch {
    std::size_t width, stride, rows;  // bytes, bytes, how many
    template <class Rows>
    explicit Pitch(const Rows& of)
        : width(static_cast<std::size_t>(of.cols) * sizeof(T)),
          stride(static_cast<std::size_t>(of.stride) * sizeof(T)),
          rows(static_cast<std::size_t>(of.rows)) {}
  };
  static void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                   cudaStream_t stream) {
    check(cudaMemcpyAsync(to, from, bytes, kind, stream), "cudaMemcpyAsync");
  }
};

}  // namespace saltus::cuda
