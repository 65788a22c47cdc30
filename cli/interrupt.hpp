// SIGINT and SIGTERM: remembered, and answered when the round ends.
#pragma once

namespace saltus::cli {

void catch_interrupts();
int signal_seen();  // its number, or 0

}  // namespace saltus::cli
