// 'saltus learn ebm', which adds itself to 'saltus learn'.
#pragma once

#include "cli/commands.hpp"

namespace saltus::cli {

void add_learn_ebm(CLI::App& learn, int& status);

}  // namespace saltus::cli
