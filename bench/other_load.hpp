// How much of the machine other programs use: figures by the clock mean little while they do.
#pragma once

namespace saltus::bench {

class OtherLoad {
 public:
  OtherLoad() : start_(now()) {}
  // Cores that other programs (and other guests of the same host) kept busy since construction.
  double cores() const;

  // Waits until less than a tenth of a core is in use, but no longer than `seconds`.
  static void wait_for_quiet(double seconds);

 private:
  struct Used {
    double clock, all, own;  // seconds
  };
  static Used now();
  Used start_;
};

}  // namespace saltus::bench
