# What needs libtorch, and CUDA where there is one: src/torch and src/cuda. Two libraries of the same
# objects: saltus::torch for those who link it, and a module that the program loads on first use.
# The module has no copy of libsaltus: it uses the program's.
set(SALTUS_HAVE_TORCH OFF)
set(SALTUS_HAVE_CUDA OFF)
if(NOT SALTUS_TORCH MATCHES "^(AUTO|ON|OFF)$" OR NOT SALTUS_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "SALTUS_TORCH and SALTUS_CUDA are AUTO, ON or OFF.")
endif()
if(SALTUS_CUDA STREQUAL "ON" AND SALTUS_TORCH STREQUAL "OFF")
  message(FATAL_ERROR "SALTUS_CUDA=ON needs libtorch, but SALTUS_TORCH is OFF.")
endif()
if(SALTUS_TORCH STREQUAL "OFF")
  return()
endif()

include(${CMAKE_CURRENT_LIST_DIR}/libtorch.cmake)
if(NOT TARGET saltus_libtorch)
  if(SALTUS_TORCH STREQUAL "ON" OR SALTUS_CUDA STREQUAL "ON")
    message(FATAL_ERROR "libtorch was not found: install libtorch-dev, set Torch_DIR, or build without "
      "it (-DSALTUS_TORCH=AUTO).")
  endif()
  message(STATUS "libtorch was not found: deep energies are left out")
  return()
endif()
set(SALTUS_HAVE_TORCH ON)

if(NOT SALTUS_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  if(SALTUS_TORCH_HAS_CUDA)
    check_language(CUDA)
  endif()
  if(SALTUS_TORCH_HAS_CUDA AND CMAKE_CUDA_COMPILER)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 90a)  # the residual network's kernel uses what only Hopper has
    endif()
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    set(SALTUS_HAVE_CUDA ON)
  elseif(SALTUS_CUDA STREQUAL "ON")
    message(FATAL_ERROR "SALTUS_CUDA=ON needs a libtorch with CUDA and nvcc.")
  endif()
endif()
message(STATUS "libtorch ${LIBTORCH_VERSION} in ${LIBTORCH_INCLUDE_DIR}, CUDA ${SALTUS_HAVE_CUDA}")

file(GLOB torch_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/torch/*.cpp)
list(FILTER torch_sources EXCLUDE REGEX "/register\\.cpp$")
if(SALTUS_HAVE_CUDA)
  file(GLOB cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cuda/*.cpp
    ${PROJECT_SOURCE_DIR}/src/cuda/*.cu)
  list(APPEND torch_sources ${cuda_sources})
else()
  list(FILTER torch_sources EXCLUDE REGEX "/cuda_[^/]*\\.cpp$")
endif()
add_library(saltus_torch_objects OBJECT ${torch_sources})
# The default language model, whose files become part of the object.
set(default_model ${PROJECT_SOURCE_DIR}/models/mlm-tiny)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/torch/default_model.cpp PROPERTIES
  COMPILE_DEFINITIONS SALTUS_DEFAULT_MODEL="${default_model}"
  OBJECT_DEPENDS "${default_model}/config.json;${default_model}/vocab.txt;${default_model}/model.safetensors")
target_compile_definitions(saltus_torch_objects PRIVATE SALTUS_VERSION="${PROJECT_VERSION}")
target_include_directories(saltus_torch_objects PRIVATE ${PROJECT_SOURCE_DIR}/include
  ${PROJECT_SOURCE_DIR}/src)
# The warnings are meant for C++; nvcc would pass them on to code that it makes itself.
target_compile_options(saltus_torch_objects PRIVATE
  "$<$<COMPILE_LANGUAGE:CXX>:$<TARGET_PROPERTY:saltus_options,INTERFACE_COMPILE_OPTIONS>>"
  $<$<COMPILE_LANGUAGE:CUDA>:-O3>)
target_link_libraries(saltus_torch_objects PRIVATE saltus_libtorch Threads::Threads)
set_target_properties(saltus_torch_objects PROPERTIES POSITION_INDEPENDENT_CODE ON)
if(SALTUS_HAVE_CUDA)
  set_target_properties(saltus_torch_objects PROPERTIES CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON)
  target_compile_definitions(saltus_torch_objects PRIVATE SALTUS_HAVE_CUDA)
  target_link_libraries(saltus_torch_objects PRIVATE CUDA::cudart CUDA::cublas)
endif()

add_library(saltus_torch STATIC $<TARGET_OBJECTS:saltus_torch_objects>
  ${PROJECT_SOURCE_DIR}/src/torch/register.cpp)
add_library(saltus::torch ALIAS saltus_torch)
target_include_directories(saltus_torch PRIVATE ${PROJECT_SOURCE_DIR}/src)
set_target_properties(saltus_torch PROPERTIES POSITION_INDEPENDENT_CODE ON LINKER_LANGUAGE CXX
  EXPORT_NAME torch)
target_link_libraries(saltus_torch PUBLIC saltus
  PRIVATE $<BUILD_INTERFACE:saltus_options> $<BUILD_INTERFACE:saltus_libtorch>)
if(SALTUS_HAVE_CUDA)
  target_link_libraries(saltus_torch PRIVATE CUDA::cudart CUDA::cublas)
endif()
# Pulls register.cpp out of the archive, by which torch_module() finds what is linked in.
target_link_options(saltus_torch INTERFACE LINKER:-u,saltus_torch_is_linked)

add_library(saltus_torch_module MODULE $<TARGET_OBJECTS:saltus_torch_objects>)
set_target_properties(saltus_torch_module PROPERTIES PREFIX "" SUFFIX .so OUTPUT_NAME saltus_torch
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR} LINKER_LANGUAGE CXX)
target_link_libraries(saltus_torch_module PRIVATE saltus_libtorch)
if(SALTUS_HAVE_CUDA)
  target_link_libraries(saltus_torch_module PRIVATE CUDA::cudart CUDA::cublas)
endif()
get_target_property(saltus_type saltus TYPE)
if(saltus_type STREQUAL "SHARED_LIBRARY")
  target_link_libraries(saltus_torch_module PRIVATE saltus)
endif()
install(TARGETS saltus_torch EXPORT saltus-torch-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(SALTUS_CLI)
  install(TARGETS saltus_torch_module LIBRARY DESTINATION lib/saltus)
endif()
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/module/torch_module.cpp PROPERTIES
  COMPILE_DEFINITIONS SALTUS_HAVE_TORCH)
