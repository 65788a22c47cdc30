// How far the work is, in a line that is drawn over on a terminal; elsewhere plain lines now and
// then, or nothing. While it lives, signals are answered between two pieces of work.
#pragma once

#include <string>

#include "cli/terminal.hpp"
#include "saltus/run/run.hpp"

namespace saltus::cli {

// The number of the signal that came while there was a Progress (SIGINT, SIGTERM or SIGHUP), or 0.
int signal_seen();

class Progress {
 public:
  using Elsewhere = StatusLine::Elsewhere;
  explicit Progress(Elsewhere elsewhere = Elsewhere::lines);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // All return false when a signal asks for an end: what a service's callback returns.
  bool update(const RunStatus& status);
  // `text()` makes the line, where it is time for one, `seconds` after the work began.
  template <class F>
  bool update(double seconds, F&& text) {
    if (line_.due(seconds)) line_.show(text());
    return !signal_seen();
  }
  bool show(const std::string& line) {
    line_.show(line);
    return !signal_seen();
  }

 private:
  StatusLine line_;
  double first_seconds_ = -1;  // for the rate: where the phase began
  std::uint64_t first_step_ = 0;
  bool warming_up_ = true;
};

}  // namespace saltus::cli
