#include "ops/gemm.hpp"

#include <algorithm>
#include <cstddef>

#ifdef SALTUS_HAVE_BLAS
#include <cblas.h>
#include <dlfcn.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>

#include "saltus/core/error.hpp"
#endif

namespace saltus::ops {

#ifdef SALTUS_HAVE_BLAS
namespace {

// What is used of OpenBLAS. It is loaded when the first model needs it: its start reserves memory
// for as many threads as there are processors, which programs without dense models should not pay
// for, and which fails where memory is limited.
struct Blas {
  decltype(&cblas_sgemm) multiply;
  int (*threads)();
  void (*set_threads)(int);
};

std::atomic<const Blas*> known{nullptr};
std::mutex loading;

// Each thread that multiplies gets a buffer of this size. OpenBLAS tries for ever to have it.
void check_room() {
  constexpr std::size_t kBuffer = std::size_t{132} << 20;
  const std::size_t room = kBuffer * std::clamp(std::thread::hardware_concurrency(), 1u, 4u);
  void* const place = ::mmap(nullptr, room, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) throw std::bad_alloc();
  ::munmap(place, room);
}

void* load_library() {
  // Read by the library while it is loaded, and not after.
  const char* const set = std::getenv("OPENBLAS_NUM_THREADS");
  const std::optional<std::string> before = set ? std::optional<std::string>(set) : std::nullopt;
  ::setenv("OPENBLAS_NUM_THREADS", "1", 1);
  void* const library = ::dlopen(SALTUS_BLAS_FILE, RTLD_NOW | RTLD_LOCAL);
  before ? ::setenv("OPENBLAS_NUM_THREADS", before->c_str(), 1)
         : ::unsetenv("OPENBLAS_NUM_THREADS");
  if (library) return library;
  throw UsageError(std::string("dense models need OpenBLAS, which cannot be loaded: ") +
                   ::dlerror());
}

// OpenBLAS as the process has it; null when nothing has loaded it and `load` is false.
const Blas* find_blas(bool load) {
  if (const Blas* found = known.load(std::memory_order_acquire)) return found;
  const std::lock_guard lock(loading);
  void* library = ::dlopen(SALTUS_BLAS_FILE, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (!library && !load) return nullptr;
  if (load) check_room();
  if (!library) library = load_library();
  static Blas found;
  found = {reinterpret_cast<decltype(&cblas_sgemm)>(::dlsym(library, "cblas_sgemm")),
           reinterpret_cast<int (*)()>(::dlsym(library, "openblas_get_num_threads")),
           reinterpret_cast<void (*)(int)>(::dlsym(library, "openblas_set_num_threads"))};
  if (!found.multiply || !found.threads || !found.set_threads) {
    throw UsageError("dense models need OpenBLAS, but " SALTUS_BLAS_FILE " is something else");
  }
  known.store(&found, std::memory_order_release);
  return &found;
}

void product(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, const float* a, int lda,
             const float* b, int ldb, float beta, float* c, int ldc) {
  find_blas(true)->multiply(CblasRowMajor, ta, tb, m, n, k, 1.0f, a, lda, b, ldb, beta, c, ldc);
}

}  // namespace

void load_blas() {
  find_blas(true);
}

OneBlasThread::OneBlasThread() {
  const Blas* const blas = find_blas(false);
  if (!blas || blas->threads() == 1) return;
  before_ = blas->threads();
  blas->set_threads(1);
}

OneBlasThread::~OneBlasThread() {
  if (before_ > 0) find_blas(false)->set_threads(before_);
}

void multiply(int m, int n, int k, const float* a, int lda, const float* b, int ldb, float* c,
              int ldc) {
  product(CblasNoTrans, CblasNoTrans, m, n, k, a, lda, b, ldb, 0.0f, c, ldc);
}

void multiply_add(int m, int n, int k, const float* a, int lda, const float* b, int ldb, float* c,
                  int ldc) {
  product(CblasNoTrans, CblasNoTrans, m, n, k, a, lda, b, ldb, 1.0f, c, ldc);
}

void multiply_transposed(int m, int n, int k, const float* a, int lda, const float* b, int ldb,
                         float* c, int ldc) {
  product(CblasNoTrans, CblasTrans, m, n, k, a, lda, b, ldb, 0.0f, c, ldc);
}

void multiply_transposed_add(int m, int n, int k, const float* a, int lda, const float* b, int ldb,
                             float* c, int ldc) {
  product(CblasNoTrans, CblasTrans, m, n, k, a, lda, b, ldb, 1.0f, c, ldc);
}

void transposed_multiply(int m, int n, int k, const float* a, int lda, const float* b, int ldb,
                         float* c, int ldc) {
  product(CblasTrans, CblasNoTrans, m, n, k, a, lda, b, ldb, 0.0f, c, ldc);
}

#else

namespace {
std::ptrdiff_t at(int row, int ld) {
  return static_cast<std::ptrdiff_t>(row) * ld;
}
}  // namespace

void multiply(int m, int n, int k, const float* a, int lda, const float* b, int ldb, float* c,
              int ldc) {
  for (int r = 0; r < m; ++r) std::fill_n(c + at(r, ldc), n, 0.0f);
  multiply_add(m, n, k, a, lda, b, ldb, c, ldc);
}

void multiply_add(int m, int n, int k, const float* a, int lda, const float* b, int ldb, float* c,
                  int ldc) {
  for (int r = 0; r < m; ++r) {
    float* row = c + at(r, ldc);
    for (int j = 0; j < k; ++j) {
      const float factor = a[at(r, lda) + j];
      for (int i = 0; i < n; ++i) row[i] += factor * b[at(j, ldb) + i];
    }
  }
}

void multiply_transposed(int m, int n, int k, const float* a, int lda, const float* b, int ldb,
                         float* c, int ldc) {
  for (int r = 0; r < m; ++r) std::fill_n(c + at(r, ldc), n, 0.0f);
  multiply_transposed_add(m, n, k, a, lda, b, ldb, c, ldc);
}

void multiply_transposed_add(int m, int n, int k, const float* a, int lda, const float* b, int ldb,
                             float* c, int ldc) {
  for (int r = 0; r < m; ++r) {
    for (int i = 0; i < n; ++i) {
      float sum = 0;
      for (int j = 0; j < k; ++j) sum += a[at(r, lda) + j] * b[at(i, ldb) + j];
      c[at(r, ldc) + i] += sum;
    }
  }
}

void transposed_multiply(int m, int n, int k, const float* a, int lda, const float* b, int ldb,
                         float* c, int ldc) {
  for (int r = 0; r < m; ++r) {
    float* row = c + at(r, ldc);
    std::fill_n(row, n, 0.0f);
    for (int j = 0; j < k; ++j) {
      const float factor = a[at(j, lda) + r];
      for (int i = 0; i < n; ++i) row[i] += factor * b[at(j, ldb) + i];
    }
  }
}

void load_blas() {}
OneBlasThread::OneBlasThread() = default;
OneBlasThread::~OneBlasThread() = default;

#endif

void dense_fields(Rows<const float> matrix, const float* field, float first_value, float spacing,
                  Rows<const Symbol> x, Rows<float> score, double* logp, float* room) {
  const int n = matrix.rows;
  float* v = room;
  float* product = room + static_cast<std::ptrdiff_t>(x.rows) * n;
  for (int r = 0; r < x.rows; ++r) {
    float* row = v + static_cast<std::ptrdiff_t>(r) * n;
    for (int i = 0; i < n; ++i) row[i] = first_value + spacing * static_cast<float>(x[r][i]);
  }
  // v S for a symmetric S.
  multiply(x.rows, n, n, v, n, matrix.data, matrix.stride, product, n);
  for (int r = 0; r < x.rows; ++r) {
    const float* value = v + static_cast<std::ptrdiff_t>(r) * n;
    const float* pairs = product + static_cast<std::ptrdiff_t>(r) * n;
    double sum = 0;
    for (int i = 0; i < n; ++i) {
      if (score) score[r][i] = pairs[i] + field[i];
      sum += double{value[i]} * (double{pairs[i]} / 2 + double{field[i]});
    }
    if (logp) logp[r] = sum;
  }
}

}  // namespace saltus::ops
