#include "c/handles.hpp"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "core/printable.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/version.hpp"

namespace saltus::c {
namespace {

thread_local std::string last_error;

int failed(int status, const char* what) noexcept {
  try {
    last_error = message_text(what);
  } catch (...) {  // no memory for a message
    last_error.clear();
  }
  return status;
}

}  // namespace

int guarded(const std::function<int()>& f) noexcept {
  try {
    return f();
  } catch (const CallbackFailed& e) {
    return failed(SALTUS_CALLBACK, e.what());
  } catch (const UsageError& e) {
    return failed(SALTUS_USAGE, e.what());
  } catch (const DataError& e) {
    return failed(SALTUS_DATA, e.what());
  } catch (const FileError& e) {
    return failed(e.writing ? SALTUS_CANNOT_CREATE : SALTUS_NO_INPUT, e.what());
  } catch (const std::bad_alloc&) {
    return failed(SALTUS_NO_MEMORY, "there is not enough memory");
  } catch (const std::exception& e) {
    return failed(SALTUS_SOFTWARE, e.what());
  } catch (...) {
    return failed(SALTUS_SOFTWARE, "an error without a description");
  }
}

char* copied(const std::string& text) {
  char* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (!copy) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

void need(const void* pointer, const char* what) {
  if (!pointer) throw UsageError(std::string(what) + " is a null pointer");
}

int threads_for(const saltus_model& model, int threads) {
  return model.is_function() ? 1 : threads;
}

std::vector<std::string> samplers_of(const saltus_model& model) {
  std::vector<std::string> names = samplers_for(*model.target);
  if (model.has_score) return names;
  std::erase_if(names, [&](const std::string& name) {
    return make_sampler(name, *model.target, {})->needs(*model.target).score;
  });
  return names;
}

void check_sampler(const saltus_model& model, const std::string& sampler,
                   const std::map<std::string, std::string>& settings) {
  if (model.has_score) return;
  std::string names;
  for (const std::string& name : samplers_of(model)) names += (names.empty() ? "" : ", ") + name;
  if (sampler != "auto" &&
      !make_sampler(sampler, *model.target, settings)->needs(*model.target).score) {
    return;
  }
  throw UsageError("sampler " + sampler + " needs a gradient, which " + model.target->name() +
                   " does not give; these samplers run without one: " + names);
}

}  // namespace saltus::c

extern "C" {

int32_t saltus_abi(void) {
  return SALTUS_C_ABI;
}

const char* saltus_version(void) {
  return saltus::version();
}

const char* saltus_last_error(void) {
  return saltus::c::last_error.c_str();
}

void saltus_free(char* text) {
  std::free(text);
}
}
