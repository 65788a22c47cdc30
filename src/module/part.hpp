// A part of saltus that needs other libraries and is therefore a module, loaded on first use:
// saltus_NAME.so, looked for at SALTUS_NAME_MODULE (environment), beside the program, and in
// ../lib/saltus from there.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

namespace saltus {

struct PartFile {
  std::string name;      // "torch"
  std::string variable;  // "SALTUS_TORCH_MODULE"
  std::string needs;     // "libtorch", in messages
  bool built;            // the part belongs to this build
  std::string advice;    // how to get it, where it does not
};

// What the module's function saltus_NAME_module returns. Throws UsageError saying what is missing,
// in a sentence with `wanted_by`.
const void* load_part(const PartFile& file, const std::string& wanted_by);

// The one instance of a module: linked into the program, or loaded.
template <class Module>
class Part {
 public:
  explicit Part(PartFile file) : file_(std::move(file)) {}
  void set(const Module& module) { known_ = &module; }
  const Module& get(const std::string& wanted_by) {
    if (const Module* module = known_) return *module;
    const std::lock_guard held(mutex_);
    if (!known_) known_ = static_cast<const Module*>(load_part(file_, wanted_by));
    return *known_;
  }

 private:
  PartFile file_;
  std::mutex mutex_;
  std::atomic<const Module*> known_{nullptr};
};

}  // namespace saltus
