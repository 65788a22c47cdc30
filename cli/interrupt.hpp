// SIGINT, SIGTERM and SIGHUP: remembered, and answered when the round ends.
#pragma once

namespace saltus::cli {

void catch_interrupts();
void stop_catching_interrupts();  // a further one ends the program
int signal_seen();                // its number, or 0

}  // namespace saltus::cli
