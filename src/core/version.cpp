#include "saltus/version.hpp"

namespace saltus {

const char* version() {
  return SALTUS_VERSION;
}

}  // namespace saltus
