// A command that was started in several processes, by mpirun or srun. One of them leads: it has the
// terminal and the files.
#pragma once

#include <string>

#include "saltus/run/team.hpp"

namespace saltus::cli {

// True in the process that leads, and where there is one process alone. Known before MPI starts.
bool leads();

// The processes that share this command; null where there is one. Starts MPI on the first call.
// Throws UsageError when this saltus cannot.
Team* team();

// The options that continue what this command saves, for its last words when one of its processes
// dies. To be said before team().
void set_how_to_continue(std::string options);

// Before a message of an error: the leader speaks first, and most errors are those of all.
void let_leader_speak();

// At the end of a command: waits for the others. After an error, ends them. Returns the status.
int leave_team(int status, bool error);

}  // namespace saltus::cli
