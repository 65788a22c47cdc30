# Processes that share a run: src/mpi, as saltus::mpi and as the module saltus_mpi.so, which the
# program loads when it was started by mpirun or srun.
saltus_component_choice(MPI)
set(MPI_CXX_SKIP_MPICXX ON)  # its old C++ interface
find_package(MPI COMPONENTS CXX QUIET)
if(NOT MPI_CXX_FOUND)
  saltus_component_missing(MPI MPI "runs in several processes are left out" "install libopenmpi-dev")
endif()
set(SALTUS_HAVE_MPI ON)
message(STATUS "MPI ${MPI_CXX_VERSION} in ${MPI_CXX_INCLUDE_DIRS}")

add_library(saltus_mpi_objects OBJECT ${PROJECT_SOURCE_DIR}/src/mpi/module.cpp)
saltus_component_objects(saltus_mpi_objects)
target_link_libraries(saltus_mpi_objects PRIVATE MPI::MPI_CXX)

saltus_component(mpi)
target_link_libraries(saltus_mpi PRIVATE MPI::MPI_CXX)
target_link_libraries(saltus_mpi_module PRIVATE MPI::MPI_CXX)
set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/module/modules.cpp APPEND PROPERTY
  COMPILE_DEFINITIONS SALTUS_HAVE_MPI=1)
