#include "cli/progress.hpp"

#include <fmt/core.h>

#include <csignal>

#include "cli/text.hpp"

namespace saltus::cli {
namespace {

volatile std::sig_atomic_t seen = 0;
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

// A signal that the caller chose to ignore (nohup, a background job) stays ignored.
bool ignored(int signal) {
  struct sigaction now {};
  return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

std::string bar(double fraction) {
  constexpr int width = 20;
  std::string text;
  for (int i = 0; i < width; ++i) text += i < static_cast<int>(fraction * width) ? "#" : ".";
  return text;
}

}  // namespace

int signal_seen() {
  return seen;
}

Progress::Progress(Elsewhere elsewhere) : line_(elsewhere) {
  struct sigaction action {};
  action.sa_handler = [](int signal) { seen = signal; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // a second one ends the program at once
  for (const int signal : kSignals) {
    if (!ignored(signal)) sigaction(signal, &action, nullptr);
  }
}

Progress::~Progress() {
  line_.clear();
  for (const int signal : kSignals) {
    if (!ignored(signal)) std::signal(signal, SIG_DFL);
  }
}

bool Progress::update(const RunStatus& status) {
  if (first_seconds_ < 0 || status.warming_up != warming_up_) {
    first_seconds_ = status.seconds;
    first_step_ = status.step;
    warming_up_ = status.warming_up;
  }
  return update(status.seconds, [&] {
    const double elapsed = status.seconds - first_seconds_;
    const double rate = elapsed > 0 ? static_cast<double>(status.step - first_step_) / elapsed
                                    : status.steps_per_second;
    const double fraction = static_cast<double>(status.step) / static_cast<double>(status.steps);
    const double left = static_cast<double>(status.steps - status.step) / rate;
    return fmt::format("{} [{}] {:5.1f} %  {} steps/s  acceptance {:.3f}  {} left",
                       status.warming_up ? "warm-up" : "drawing", bar(fraction), 100 * fraction,
                       rounded(rate), status.acceptance, duration(left));
  });
}

}  // namespace saltus::cli
