# make package: Debian packages, by CPack. The program (saltus) and the library with its headers
# (libsaltus-dev) are two packages; a module for GPUs, networks or MPI is one of its own, so that the
# program does not ask for a gigabyte of libtorch.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME saltus)
set(CPACK_PACKAGE_VENDOR "The saltus authors")
set(SALTUS_PACKAGER "The saltus authors <root@localhost>" CACHE STRING
  "Who makes the Debian packages: NAME <ADDRESS>")
set(CPACK_PACKAGE_CONTACT ${SALTUS_PACKAGER})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "sampler for high-dimensional discrete distributions")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ
  GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
# Manual pages packed, and the papers that Debian wants beside them.
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian_documents.cmake)
set(CPACK_SALTUS_SOURCE ${PROJECT_SOURCE_DIR})

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(about "saltus draws from discrete distributions with many coordinates: spins,
bits, Potts states, ordered levels, counts. It has Langevin-like samplers
that use gradients, tempering and annealing, and says of every mean how far
to trust it.")

# saltus_package(COMPONENT NAME SECTION CONTENT)
function(saltus_package component name section content)
  string(TOUPPER ${component} key)
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_COMPONENT_${key}_DESCRIPTION "${about}\n.\n${content}" PARENT_SCOPE)
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${component} PARENT_SCOPE)
endfunction()

set(CPACK_COMPONENTS_ALL "")
saltus_package(program saltus math "This package has the program.")
saltus_package(development libsaltus-dev libdevel
  "This package has the C++ library, its headers and its CMake package.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libfmt-dev, zlib1g-dev")
if(SALTUS_NETCDF)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", libnetcdf-dev")
endif()
if(SALTUS_PNG)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", libpng-dev")
endif()
if(SALTUS_BLAS)  # loaded at run time, so that no library shows it; the built-in 5 x 5 model asks for it
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS libopenblas0-pthread)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS libopenblas0-pthread)
endif()
foreach(part cuda torch mpi)
  string(TOUPPER ${part} key)
  if(SALTUS_HAVE_${key})
    string(APPEND CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS ",saltus-${part}")
    set(CPACK_DEBIAN_${key}_PACKAGE_DEPENDS "saltus (= ${PROJECT_VERSION}-1)")
  endif()
endforeach()
string(REGEX REPLACE "^," "" CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS
  "${CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS}")
if(SALTUS_HAVE_CUDA)
  saltus_package(cuda saltus-cuda math
    "This package lets the program run chains on NVIDIA GPUs.")
endif()
if(SALTUS_HAVE_TORCH)
  saltus_package(torch saltus-torch math
    "This package lets the program draw from networks and fill the gaps of\nsentences, by libtorch.")
  if(SALTUS_TORCH_ON_CUDA)
    string(APPEND CPACK_DEBIAN_TORCH_PACKAGE_DEPENDS ", saltus-cuda (= ${PROJECT_VERSION}-1)")
  endif()
endif()
if(SALTUS_HAVE_MPI)
  saltus_package(mpi saltus-mpi math
    "This package lets several processes share a run, by MPI.")
endif()
include(CPack)
