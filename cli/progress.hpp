// How far a run is: a line that is drawn over on a terminal, plain lines now and then elsewhere.
#pragma once

#include "cli/terminal.hpp"
#include "saltus/run/run.hpp"

namespace saltus::cli {

class Progress {
 public:
  void update(const RunStatus& status);
  // Removes the line, before something else is printed.
  void clear() { line_.clear(); }

 private:
  StatusLine line_{StatusLine::Elsewhere::lines};
  double first_seconds_ = -1;  // for the rate: where the phase began
  std::uint64_t first_step_ = 0;
  bool warming_up_ = true;
};

}  // namespace saltus::cli
