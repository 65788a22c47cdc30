// How far the work is, in a line that is drawn over on a terminal; elsewhere plain lines now and
// then, or nothing. While it lives, signals are answered between two pieces of work.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/terminal.hpp"
#include "saltus/learn.hpp"
#include "saltus/run/run.hpp"

namespace saltus::cli {

// The number of the signal that came while there was a Progress (SIGINT, SIGTERM or SIGHUP), or 0.
int signal_seen();

// "loss -14.2, reconstruction error 0.11": what there is to say of the recent iterations.
std::string state_text(const LearningInfo& recent);

class Progress {
 public:
  enum class Elsewhere { nothing, lines };
  explicit Progress(Elsewhere elsewhere = Elsewhere::lines);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // All return false when a signal asks for an end: what a service's callback returns.
  bool update(const RunStatus& status);
  bool update(const LearnStatus& status);
  // `text()` makes the line, where it is time for one, `seconds` after the work began.
  template <class F>
  bool update(double seconds, F&& text) {
    if (due(seconds)) show(text());
    return !signal_seen();
  }
  bool show(const std::string& line);
  // On a terminal, lines to be shown below that one, given its size.
  using More = std::function<std::vector<std::string>(const TerminalSize&)>;
  void also_show(More more) { more_ = std::move(more); }

 private:
  // Whether the line should be shown again, `seconds` after the beginning of the work.
  bool due(double seconds);

  bool terminal_, silent_, shown_ = false;
  More more_;
  double last_ = -1;           // seconds when it was shown
  double first_seconds_ = -1;  // for the rate: where the phase began
  std::uint64_t first_step_ = 0;
  bool warming_up_ = true;
};

// A run of a service from beginning to end, or to a signal; true when all of it is done.
template <class Run>
bool go(Run& run) {
  Progress progress;
  return run.go([&](const auto& status) { return progress.update(status); });
}

}  // namespace saltus::cli
