#include "cli/team.hpp"

#include <chrono>
#include <cstdlib>
#include <optional>
#include <thread>

#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "cli/terminal.hpp"
#include "saltus/mpi/module.hpp"

namespace saltus::cli {
namespace {

using Clock = std::chrono::steady_clock;

// After a signal, so long for the others to answer: mpirun, which ends all processes when one of
// them dies, gives them a second.
constexpr auto kPatience = std::chrono::milliseconds(400);
// Until then the leader's error has ended the others.
constexpr auto kLeaderFirst = std::chrono::seconds(2);

Team* joined = nullptr;

// Called while this process waits for others: one that was told to stop does not wait for ever.
void look_for_signals() {
  static std::optional<Clock::time_point> told;
  if (!signal_seen()) {
    told.reset();
    return;
  }
  if (!told) told = Clock::now();
  if (Clock::now() - *told < kPatience) return;
  if (leads()) {
    say("saltus: told to stop, and another process of this run does not answer: it has ended, or "
        "takes longer. What was saved last can be continued with --resume.\n");
  }
  std::_Exit(128 + signal_seen());
}

}  // namespace

bool leads() {
  static const bool first = launched_processes().rank == 0;
  return first;
}

Team* team() {
  if (!joined && launched_processes().size > 1) {
    joined = &mpi_module().all_processes(look_for_signals);
  }
  return joined;
}

void let_leader_speak() {
  if (!leads()) std::this_thread::sleep_for(kLeaderFirst);
}

int leave_team(int status, bool error) {
  if (!joined) return status;
  if (error) mpi_module().abort(status);
  mpi_module().finish();
  return status;
}

}  // namespace saltus::cli
