# What needs libtorch: src/torch, as saltus::torch and as the module saltus_torch.so. Where libtorch
# has CUDA and saltus::cuda is there, networks are energies of chains on the GPU, by both.
set(SALTUS_TORCH_ON_CUDA OFF)
saltus_component_choice(TORCH)
include(${CMAKE_CURRENT_LIST_DIR}/libtorch.cmake)
if(NOT TARGET saltus_libtorch)
  saltus_component_missing(TORCH libtorch "deep energies are left out"
    "install libtorch-dev, set Torch_DIR")
endif()
set(SALTUS_HAVE_TORCH ON)
if(SALTUS_TORCH_HAS_CUDA AND SALTUS_HAVE_CUDA)
  set(SALTUS_TORCH_ON_CUDA ON)
endif()
message(STATUS "libtorch ${LIBTORCH_VERSION} in ${LIBTORCH_INCLUDE_DIR}, chains on CUDA "
  "${SALTUS_TORCH_ON_CUDA}")

file(GLOB torch_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/torch/*.cpp)
list(FILTER torch_sources EXCLUDE REGEX "/register\\.cpp$")
if(NOT SALTUS_TORCH_ON_CUDA)
  list(FILTER torch_sources EXCLUDE REGEX "/cuda_[^/]*\\.cpp$")
endif()
add_library(saltus_torch_objects OBJECT ${torch_sources})
saltus_component_objects(saltus_torch_objects)
# The default language model, whose files become part of the object.
set(default_model ${PROJECT_SOURCE_DIR}/models/mlm-tiny)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/torch/default_model.cpp PROPERTIES
  COMPILE_DEFINITIONS SALTUS_DEFAULT_MODEL="${default_model}"
  OBJECT_DEPENDS "${default_model}/config.json;${default_model}/vocab.txt;${default_model}/model.safetensors")
target_link_libraries(saltus_torch_objects PRIVATE saltus_libtorch Threads::Threads)

saltus_component(torch)
target_link_libraries(saltus_torch PRIVATE $<BUILD_INTERFACE:saltus_libtorch>)
target_link_libraries(saltus_torch_module PRIVATE saltus_libtorch)
if(SALTUS_TORCH_ON_CUDA)
  target_compile_definitions(saltus_torch_objects PRIVATE SALTUS_TORCH_ON_CUDA)
  target_link_libraries(saltus_torch_objects PRIVATE CUDA::cudart)
  target_link_libraries(saltus_torch PUBLIC saltus_cuda)
  target_link_libraries(saltus_torch_module PRIVATE saltus_cuda_module CUDA::cudart)
endif()
set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/module/modules.cpp APPEND PROPERTY
  COMPILE_DEFINITIONS SALTUS_HAVE_TORCH=1)
