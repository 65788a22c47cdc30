// SIGINT and SIGTERM: remembered, and answered when the round ends.
#pragma once

namespace saltus::cli {

void catch_interrupts();
bool interrupted_by_user();

}  // namespace saltus::cli
