# libtorch: the target saltus_libtorch, and SALTUS_TORCH_HAS_CUDA. Headers and libraries are looked for
# here instead of by find_package(Torch), whose flags, languages and targets would reach everything else.
#
# Looked at, in this order: Torch_DIR and CMAKE_PREFIX_PATH as find_package(Torch) takes them, the
# system's folders (libtorch-dev), and the package `torch` of python3.
set(torch_hints "")
foreach(folder ${Torch_DIR} ${CMAKE_PREFIX_PATH} $ENV{CMAKE_PREFIX_PATH})
  list(APPEND torch_hints ${folder} ${folder}/../.. ${folder}/../../..)
endforeach()
find_program(SALTUS_TORCH_PYTHON NAMES python3)
mark_as_advanced(SALTUS_TORCH_PYTHON)
set(torch_of_python "")
if(SALTUS_TORCH_PYTHON)
  execute_process(COMMAND ${SALTUS_TORCH_PYTHON} -c
    "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
    OUTPUT_VARIABLE torch_of_python OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()

find_path(LIBTORCH_INCLUDE_DIR torch/script.h HINTS ${torch_hints} PATHS ${torch_of_python}
  PATH_SUFFIXES include)
if(LIBTORCH_INCLUDE_DIR)
  # The libraries that belong to these headers: of the same folder, or of the system.
  set(torch_libraries "")
  foreach(name torch torch_cpu c10)
    find_library(LIBTORCH_${name} ${name} HINTS ${LIBTORCH_INCLUDE_DIR}/../lib)
    list(APPEND torch_libraries ${LIBTORCH_${name}})
  endforeach()
endif()
if(NOT LIBTORCH_INCLUDE_DIR OR torch_libraries MATCHES "NOTFOUND")
  return()
endif()

foreach(name torch_cuda c10_cuda)
  find_library(LIBTORCH_${name} ${name} HINTS ${LIBTORCH_INCLUDE_DIR}/../lib)
endforeach()
if(LIBTORCH_torch_cuda AND LIBTORCH_c10_cuda)
  set(SALTUS_TORCH_HAS_CUDA ON)
  list(APPEND torch_libraries ${LIBTORCH_torch_cuda} ${LIBTORCH_c10_cuda})
endif()
set(LIBTORCH_VERSION "")
foreach(header torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
  if(NOT LIBTORCH_VERSION AND EXISTS ${LIBTORCH_INCLUDE_DIR}/${header})
    file(READ ${LIBTORCH_INCLUDE_DIR}/${header} torch_version)
    string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" LIBTORCH_VERSION "${torch_version}")
  endif()
endforeach()

add_library(saltus_libtorch INTERFACE)
target_include_directories(saltus_libtorch SYSTEM INTERFACE ${LIBTORCH_INCLUDE_DIR}
  ${LIBTORCH_INCLUDE_DIR}/torch/csrc/api/include)
# libtorch and libtorch_cuda register themselves when loaded; no symbol of theirs is called by name.
# libstdc++ comes first: PyTorch's own builds export parts of another one (std::filesystem), which a
# program that finds them first would call with objects of a different layout.
target_link_libraries(saltus_libtorch INTERFACE stdc++ -Wl,--no-as-needed ${torch_libraries}
  -Wl,--as-needed)
