#pragma once

namespace saltus {

// "0.1.0"
const char* version();

}  // namespace saltus
