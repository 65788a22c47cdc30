#include "cli/team.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "cli/terminal.hpp"
#include "saltus/mpi/module.hpp"

namespace saltus::cli {
namespace {

using Clock = std::chrono::steady_clock;

// After a signal, so long for the others to answer, and for this process to end: mpirun, which ends
// all processes when one of them dies, gives them a second.
constexpr auto kPatience = std::chrono::milliseconds(400);
constexpr auto kLastMoment = std::chrono::milliseconds(700);
constexpr auto kBetweenLooks = std::chrono::milliseconds(50);
// Until then the leader's error has ended the others.
constexpr auto kLeaderFirst = std::chrono::seconds(2);

Team* joined = nullptr;
std::string how_to_continue;

// The process that leads, and whether it is on this machine.
struct Leader {
  pid_t process = 0;
  bool here = false;
  bool gone() const { return here && kill(process, 0) != 0 && errno == ESRCH; }
} leader;

Leader find_leader(Team& team) {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  const std::uint64_t host = std::hash<std::string_view>{}(name);
  const bool here = team.share_value(host) == host;
  return {static_cast<pid_t>(team.share_value(static_cast<std::uint64_t>(getpid()))), here};
}

// The leader's, or the next process's where the leader is the one that has died.
void say_last_words() {
  static std::atomic_flag said;
  if (!(leads() || (launched_processes().rank == 1 && leader.gone())) || said.test_and_set())
    return;
  say("saltus: told to stop, and another process of this run does not answer: it has ended, or "
      "takes longer. {}\n",
      how_to_continue.empty() ? "There is no checkpoint: --checkpoint FILE keeps one."
                              : "Continue from the last checkpoint with " + how_to_continue);
}

// How long ago a signal came that asks this process to stop.
Clock::duration since_signal() {
  static Clock::time_point calm = Clock::now();
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const auto now = Clock::now();
  if (!signal_seen()) calm = now;
  return now - calm;
}

// Called while this process waits for others: one that was told to stop does not wait for ever.
void look_for_signals() {
  if (since_signal() < kPatience) return;
  say_last_words();
  std::_Exit(128 + signal_seen());
}

// A thread of its own, for a process that computes when it is told to stop and would be killed
// before it looks.
void watch_for_signals() {
  while (since_signal() < kLastMoment) std::this_thread::sleep_for(kBetweenLooks);
  say_last_words();
}

}  // namespace

bool leads() {
  static const bool first = launched_processes().rank == 0;
  return first;
}

Team* team() {
  if (!joined && launched_processes().size > 1) {
    joined = &mpi_module().all_processes(look_for_signals);
    leader = find_leader(*joined);
    std::thread(watch_for_signals).detach();
  }
  return joined;
}

void set_how_to_continue(std::string options) {
  how_to_continue = std::move(options);
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
