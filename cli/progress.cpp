#include "cli/progress.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cmath>
#include <csignal>

#include "cli/team.hpp"
#include "cli/text.hpp"

namespace saltus::cli {
namespace {

constexpr double kTerminalSeconds = 0.1, kWatchSeconds = 0.25, kPlainSeconds = 10;

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

std::string state_text(const LearningInfo& recent) {
  std::string text = fmt::format("loss {}", short_number(recent.loss));
  if (std::isnan(recent.difference)) {
    return text +
           fmt::format("  acceptance {:.3f}  changes {:.1f}", recent.acceptance, recent.changed);
  }
  return text + fmt::format("  reconstruction error {:.4f}", recent.difference);
}

int signal_seen() {
  return seen;
}

Progress::Progress(Elsewhere elsewhere)
    : terminal_(leads() && isatty(STDERR_FILENO) == 1),
      silent_(!leads() || (!terminal_ && elsewhere == Elsewhere::nothing)) {
  struct sigaction action {};
  action.sa_handler = [](int signal) { seen = signal; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // a second one ends the program at once
  for (const int signal : kSignals) {
    if (!ignored(signal)) sigaction(signal, &action, nullptr);
  }
}

Progress::~Progress() {
  if (shown_ && terminal_) more_ ? say_block({}) : say_over("");
  for (const int signal : kSignals) {
    if (!ignored(signal)) std::signal(signal, SIG_DFL);
  }
}

bool Progress::due(double seconds) {
  const double between = !terminal_ ? kPlainSeconds : more_ ? kWatchSeconds : kTerminalSeconds;
  if (silent_ || seconds - last_ < between) return false;
  if (!terminal_ && last_ < 0 && seconds < kPlainSeconds) return false;  // short runs stay silent
  last_ = seconds;
  return true;
}

bool Progress::show(const std::string& line) {
  if (!silent_ && terminal_ && more_) {
    std::vector<std::string> lines = split_list(line, '\n');
    for (std::string& more : more_(terminal_size())) lines.push_back(std::move(more));
    say_block(lines);
  } else if (!silent_) {
    terminal_ ? say_over(line) : say_text(line + "\n");
  }
  shown_ = !silent_;
  return !signal_seen();
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
    if (terminal_ && more_) {  // what matters first: the terminal may be narrow
      return fmt::format("{} [{}] {:5.1f} %  {} left\n{} steps/s  acceptance {:.3f}",
                         status.warming_up ? "warm-up" : "drawing", bar(fraction), 100 * fraction,
                         duration(left), rounded(rate), status.acceptance);
    }
    return fmt::format("{} [{}] {:5.1f} %  {} steps/s  acceptance {:.3f}  {} left",
                       status.warming_up ? "warm-up" : "drawing", bar(fraction), 100 * fraction,
                       rounded(rate), status.acceptance, duration(left));
  });
}

bool Progress::update(const LearnStatus& status) {
  return update(status.seconds, [&] {
    const auto done = static_cast<double>(status.totals.iterations);
    if (status.validated >= 0) {
      return fmt::format("validation after {} iterations {:5.1f} %",
                         with_commas(status.totals.iterations), 100 * status.validated);
    }
    const double rate = (done - static_cast<double>(status.first)) / status.seconds;
    const double left = (static_cast<double>(status.planned) - done) / rate;
    return fmt::format("learning {:5.1f} %  {} left  {}  {} ms per iteration",
                       100 * done / static_cast<double>(status.planned), duration(left),
                       state_text(status.totals.recent), short_number(1e3 / rate));
  });
}

}  // namespace saltus::cli
