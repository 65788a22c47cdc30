#include "interrupt.hpp"

#include <csignal>

namespace saltus::cli {
namespace {

volatile std::sig_atomic_t seen = 0;

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int signal) { seen = signal; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // a second one ends the program at once
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void stop_catching_interrupts() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

int signal_seen() {
  return seen;
}

}  // namespace saltus::cli
