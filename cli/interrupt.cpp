#include "cli/interrupt.hpp"

#include <csignal>

namespace saltus::cli {
namespace {

volatile std::sig_atomic_t seen = 0;
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

// A signal that the caller chose to ignore (nohup, a background job) stays ignored.
bool ignored(int signal) {
  struct sigaction now {};
  return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int signal) { seen = signal; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // a second one ends the program at once
  for (const int signal : kSignals) {
    if (!ignored(signal)) sigaction(signal, &action, nullptr);
  }
}

void stop_catching_interrupts() {
  for (const int signal : kSignals) {
    if (!ignored(signal)) std::signal(signal, SIG_DFL);
  }
}

int signal_seen() {
  return seen;
}

}  // namespace saltus::cli
