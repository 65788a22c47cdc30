// Makes what is linked with saltus::mpi known to mpi_module(). Not part of the loaded module, which
// is asked for by name.
#include "saltus/mpi/module.hpp"

extern "C" const saltus::MpiModule* saltus_mpi_module();

extern "C" const bool saltus_mpi_is_linked = [] {
  saltus::register_mpi_module(*saltus_mpi_module());
  return true;
}();
