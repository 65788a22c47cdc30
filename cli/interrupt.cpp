#include "interrupt.hpp"

#include <csignal>

namespace saltus::cli {
namespace {

volatile std::sig_atomic_t seen = 0;

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { seen = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // a second one ends the program at once
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted_by_user() {
  return seen != 0;
}

}  // namespace saltus::cli
