#include "progress.hpp"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "text.hpp"

namespace saltus::cli {
namespace {

constexpr double kTerminalSeconds = 0.1, kPlainSeconds = 10;

std::string bar(double fraction) {
  constexpr int width = 20;
  std::string text;
  for (int i = 0; i < width; ++i) text += i < static_cast<int>(fraction * width) ? "#" : ".";
  return text;
}

std::size_t terminal_width() {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return known ? size.ws_col : 80;
}

}  // namespace

Progress::Progress() : terminal_(isatty(STDERR_FILENO) == 1) {}
Progress::~Progress() {
  clear();
}

void Progress::clear() {
  if (shown_ && terminal_) fmt::print(stderr, "\r\033[K");
  shown_ = false;
}

void Progress::update(const RunStatus& status) {
  if (first_seconds_ < 0 || status.warming_up != warming_up_) {
    first_seconds_ = status.seconds;
    first_step_ = status.step;
    warming_up_ = status.warming_up;
  }
  const double interval = terminal_ ? kTerminalSeconds : kPlainSeconds;
  if (status.seconds - last_ < interval && status.step < status.steps) return;
  if (!terminal_ && last_ < 0 && status.seconds < kPlainSeconds) return;  // short runs stay silent
  last_ = status.seconds;
  const double elapsed = status.seconds - first_seconds_;
  const double rate = elapsed > 0 ? static_cast<double>(status.step - first_step_) / elapsed
                                  : status.steps_per_second;
  const double fraction = static_cast<double>(status.step) / static_cast<double>(status.steps);
  const double left = static_cast<double>(status.steps - status.step) / rate;
  std::string line = fmt::format("{} [{}] {:5.1f} %  {} steps/s  acceptance {:.3f}  {} left",
                                 status.warming_up ? "warm-up" : "drawing", bar(fraction),
                                 100 * fraction, rounded(rate), status.acceptance, duration(left));
  if (terminal_) line.resize(std::min(line.size(), terminal_width() - 1));  // never onto a new line
  if (terminal_) {
    fmt::print(stderr, "\r\033[K{}", line);
  } else {
    fmt::print(stderr, "{}\n", line);
  }
  std::fflush(stderr);
  shown_ = true;
}

}  // namespace saltus::cli
