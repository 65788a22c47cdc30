// How far a run is: a line that is drawn over on a terminal, plain lines now and then elsewhere.
#pragma once

#include "saltus/run/run.hpp"

namespace saltus::cli {

class Progress {
 public:
  Progress();
  ~Progress();  // ends the line
  void update(const RunStatus& status);
  // Removes the line, before something else is printed.
  void clear();

 private:
  bool terminal_, shown_ = false;
  double last_ = -1;           // seconds at the last output
  double first_seconds_ = -1;  // for the rate: where the phase began
  std::uint64_t first_step_ = 0;
  bool warming_up_ = true;
};

}  // namespace saltus::cli
