# The library: everything under src/, with src/ops compiled once per instruction set.

add_library(saltus_options INTERFACE)
target_compile_options(saltus_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  -Wsign-conversion
  # GCC 12 warns wrongly here: about string concatenation and inside its own AVX-512 header.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-psabi -Wno-restrict -Wno-maybe-uninitialized>
  # GCC 13 takes any reference that a function returns for one to its temporary arguments.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,13>>:-Wno-dangling-reference>
  $<$<BOOL:${SALTUS_WERROR}>:-Werror>)

# Checks that cost less than 1 % (docs/security.md). The assertions of the C++ library cost up to 30 %
# in samplers and recorders: they are on where files and options are read (saltus_readers), in the
# program and in the experiments.
set(SALTUS_CHECKED "")
if(SALTUS_HARDENED AND CMAKE_BUILD_TYPE MATCHES "Rel" AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  target_compile_options(saltus_options INTERFACE -fstack-protector-strong -U_FORTIFY_SOURCE
    -D_FORTIFY_SOURCE=2)
  set(SALTUS_CHECKED _GLIBCXX_ASSERTIONS)
  target_link_options(saltus_options INTERFACE LINKER:-z,relro LINKER:-z,now)
endif()

# Makes one translation unit of the files of each folder, so that the compiler reads the JSON library,
# CLI11 and fmt, and instantiates their templates, once for all of them. Names in unnamed namespaces
# must then differ within a folder. Samplers and targets are compiled one by one.
function(saltus_compile_together target)
  if(NOT SALTUS_TOGETHER)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  foreach(source ${ARGN})
    get_filename_component(folder ${source} DIRECTORY)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
    string(REPLACE "/" "_" group ${folder})
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
endfunction()

# Products and sums are never fused: every instruction set then gives the same bits.
set(SALTUS_OPS_OPTIONS -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math)

function(saltus_add_level level)
  set(sources table.cpp lattice.cpp common_bits.cpp)
  if(level STREQUAL "scalar")
    list(APPEND sources proposal_scalar.cpp values_scalar.cpp gibbs/gibbs_scalar.cpp gibbs/spins_scalar.cpp)
  else()
    list(APPEND sources two_level_vector.cpp levels_vector.cpp few_levels_vector.cpp sparse_vector.cpp
      hidden_vector.cpp row_sums_vector.cpp binary_network_vector.cpp
      gibbs/lattice_vector.cpp gibbs/sparse_vector.cpp gibbs/dense_vector.cpp
      gibbs/spins_vector.cpp)
  endif()
  list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/src/ops/)
  add_library(saltus_ops_${level} OBJECT ${sources})
  target_include_directories(saltus_ops_${level} PRIVATE ${PROJECT_SOURCE_DIR}/include
    ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(saltus_ops_${level} PRIVATE SALTUS_LEVEL_NAMESPACE=${level})
  target_compile_options(saltus_ops_${level} PRIVATE ${SALTUS_OPS_OPTIONS} ${ARGN})
  target_link_libraries(saltus_ops_${level} PRIVATE saltus_options)
  set_target_properties(saltus_ops_${level} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_sources(saltus PRIVATE $<TARGET_OBJECTS:saltus_ops_${level}>)
endfunction()

file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cpp)
list(FILTER sources EXCLUDE REGEX "/src/ops/(table|lattice|.*_scalar|.*_vector)\\.cpp$")
list(FILTER sources EXCLUDE REGEX "/src/(c|torch|cuda|mpi)/")  # c_interface.cmake, cuda_component.cmake, ...
if(NOT SALTUS_NETCDF)
  list(FILTER sources EXCLUDE REGEX "/src/io/draws/netcdf_")
endif()
set(readers ${sources})
list(FILTER readers INCLUDE REGEX "/src/(io|text|report|module)/")
list(REMOVE_ITEM sources ${readers})
add_library(saltus ${sources})
list(FILTER sources INCLUDE REGEX "/src/(compare|diagnose|learn|service|temper)/")
saltus_compile_together(saltus ${sources})
add_library(saltus::saltus ALIAS saltus)
set_target_properties(saltus PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_compile_features(saltus PUBLIC cxx_std_20)
target_compile_definitions(saltus PRIVATE SALTUS_VERSION="${PROJECT_VERSION}")
target_include_directories(saltus
  PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
  PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(saltus PUBLIC Threads::Threads
  PRIVATE ${SALTUS_FMT} ZLIB::ZLIB ${CMAKE_DL_LIBS} $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>
  $<BUILD_INTERFACE:saltus_options>)

saltus_add_level(scalar -fno-tree-vectorize)
saltus_add_level(baseline)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  saltus_add_level(avx2 -mavx2)
  saltus_add_level(avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512)
endif()

if(SALTUS_BLAS)
  # The threaded variant, though we let it use one thread: the serial one is not safe to be called
  # from several threads at once. It is loaded at run time, by its name, when a dense model needs it.
  set(variants ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-pthread openblas)
  find_path(CBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES ${variants} REQUIRED)
  find_library(OPENBLAS_LIBRARY openblas PATH_SUFFIXES openblas-pthread REQUIRED)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/ops/gemm.cpp PROPERTIES
    COMPILE_DEFINITIONS "SALTUS_HAVE_BLAS;SALTUS_BLAS_FILE=\"libopenblas.so.0\""
    INCLUDE_DIRECTORIES ${CBLAS_INCLUDE_DIR})
endif()
if(SALTUS_NETCDF)
  find_path(NETCDF_INCLUDE_DIR netcdf.h REQUIRED)
  find_library(NETCDF_LIBRARY netcdf REQUIRED)
  target_include_directories(saltus PRIVATE ${NETCDF_INCLUDE_DIR})
  target_compile_definitions(saltus PRIVATE SALTUS_HAVE_NETCDF)
  target_link_libraries(saltus PRIVATE ${NETCDF_LIBRARY})
endif()
if(SALTUS_PNG)
  find_package(PNG REQUIRED)
  target_compile_definitions(saltus PRIVATE SALTUS_HAVE_PNG)
  target_link_libraries(saltus PRIVATE PNG::PNG)
endif()
if(SALTUS_PAGES)
  include(cmake/pages.cmake)
endif()

# What reads files and options, compiled as the rest is, and with the assertions.
add_library(saltus_readers OBJECT ${readers})
foreach(property INCLUDE_DIRECTORIES LINK_LIBRARIES POSITION_INDEPENDENT_CODE)
  get_target_property(value saltus ${property})
  set_target_properties(saltus_readers PROPERTIES ${property} "${value}")
endforeach()
target_compile_definitions(saltus_readers PRIVATE $<TARGET_PROPERTY:saltus,COMPILE_DEFINITIONS>
  ${SALTUS_CHECKED})
saltus_compile_together(saltus_readers ${readers})
target_sources(saltus PRIVATE $<TARGET_OBJECTS:saltus_readers>)
