// The part of saltus that joins processes by MPI. It is a module that is loaded when a program was
// started in several processes (mpirun, srun), so that it runs on machines that have no MPI.
#pragma once

#include <functional>
#include <string>

#include "saltus/run/team.hpp"

namespace saltus {

class MpiModule {
 public:
  virtual ~MpiModule() = default;

  // All processes that were started together. Starts MPI on the first call, unless the program has.
  // `while_waiting` is called now and then while a process waits for others.
  virtual Team& all_processes(std::function<void()> while_waiting) const = 0;
  // Waits, without work for the processor, until all processes have come here, and ends MPI where
  // all_processes has started it.
  virtual void finish() const = 0;
  // Ends all processes at once.
  [[noreturn]] virtual void abort(int status) const = 0;
};

// Where the launcher of an MPI program says so: the number of this process, and of all of them.
struct Launched {
  int rank = 0, size = 1;
};
Launched launched_processes();

// Loads the module on the first call, as cuda_module does. Throws UsageError saying what is
// missing.
const MpiModule& mpi_module(const std::string& wanted_by = "a run in several processes");

// From then on mpi_module() returns `module`, which must live on.
void register_mpi_module(const MpiModule& module);

}  // namespace saltus
