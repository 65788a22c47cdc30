// The version of the library that is linked, as text.
#pragma once

namespace saltus {

// As in "0.4.0".
const char* version();

}  // namespace saltus
