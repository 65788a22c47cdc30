# Chains on NVIDIA GPUs: src/cuda, by nvcc, with the CUDA runtime and cuBLAS and without libtorch.
# Two libraries of the same objects: saltus::cuda for those who link it, and saltus_cuda.so, which
# the program loads on first use. The latter has no copy of libsaltus: it uses the program's.
saltus_component_choice(CUDA)
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  saltus_component_missing(CUDA nvcc "the device cuda is left out" "install NVIDIA's CUDA toolkit")
endif()

# Ampere, Ada, Hopper and Blackwell as far as nvcc knows them, and code that the driver compiles for
# later ones. 90a, and not 90: the residual network's kernel uses what only Hopper has.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-arch OUTPUT_VARIABLE known ERROR_QUIET)
  set(CMAKE_CUDA_ARCHITECTURES 80)
  foreach(architecture 86 89 90a 100 120)
    string(REGEX MATCH "^[0-9]+" number ${architecture})
    if(known MATCHES "compute_${number}[\r\n]")
      list(APPEND CMAKE_CUDA_ARCHITECTURES ${architecture}-real)
    endif()
  endforeach()
endif()
foreach(architecture ${CMAKE_CUDA_ARCHITECTURES})
  if(architecture MATCHES "^[0-9]+" AND CMAKE_MATCH_0 LESS 80)
    message(FATAL_ERROR "The GPU architecture ${architecture} is too old: saltus needs 80 or later.")
  endif()
endforeach()
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc has C++20
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
set(SALTUS_HAVE_CUDA ON)
list(JOIN CMAKE_CUDA_ARCHITECTURES ", " cuda_architectures)
message(STATUS "CUDA ${CMAKE_CUDA_COMPILER_VERSION} for the architectures ${cuda_architectures}")

file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cuda/*.cpp
  ${PROJECT_SOURCE_DIR}/src/cuda/*.cu)
list(FILTER cuda_sources EXCLUDE REGEX "/register\\.cpp$")
add_library(saltus_cuda_objects OBJECT ${cuda_sources})
saltus_component_objects(saltus_cuda_objects)
set_target_properties(saltus_cuda_objects PROPERTIES CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON)
# 554: the conversions of saltus::Rows, which device code does not use
target_compile_options(saltus_cuda_objects PRIVATE
  "$<$<COMPILE_LANGUAGE:CUDA>:-O3;--threads=2;-diag-suppress=554>")
target_compile_definitions(saltus_cuda_objects PRIVATE
  SALTUS_CUDA_ARCHITECTURES="${cuda_architectures}")
if(CMAKE_CUDA_ARCHITECTURES MATCHES "90a")
  target_compile_definitions(saltus_cuda_objects PRIVATE SALTUS_HOPPER)
endif()
target_link_libraries(saltus_cuda_objects PRIVATE CUDA::cudart CUDA::cublas Threads::Threads)

saltus_component(cuda)
target_link_libraries(saltus_cuda PUBLIC CUDA::cudart PRIVATE CUDA::cublas)
target_link_libraries(saltus_cuda_module PRIVATE CUDA::cudart CUDA::cublas)
set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/module/modules.cpp APPEND PROPERTY
  COMPILE_DEFINITIONS SALTUS_HAVE_CUDA=1)
