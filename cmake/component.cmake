# Parts of saltus that need other libraries: saltus::NAME, to be linked, and the module
# saltus_NAME.so, which the program loads on first use. Both are made of saltus_NAME_objects.

# SALTUS_CUDA and SALTUS_TORCH: AUTO, ON or OFF, which ends the file that calls this.
macro(saltus_component_choice name)
  set(SALTUS_HAVE_${name} OFF)
  if(NOT SALTUS_${name} MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "SALTUS_${name} is AUTO, ON or OFF.")
  endif()
  if(SALTUS_${name} STREQUAL "OFF")
    return()
  endif()
endmacro()

# Something was not found: an error where the part is insisted on.
macro(saltus_component_missing name what left_out advice)
  if(SALTUS_${name} STREQUAL "ON")
    message(FATAL_ERROR "${what} was not found: ${advice}, or build without it (-DSALTUS_${name}=AUTO).")
  endif()
  message(STATUS "${what} was not found: ${left_out}")
  return()
endmacro()

function(saltus_component_objects objects)
  target_compile_definitions(${objects} PRIVATE SALTUS_VERSION="${PROJECT_VERSION}")
  target_include_directories(${objects} PRIVATE ${PROJECT_SOURCE_DIR}/include
    ${PROJECT_SOURCE_DIR}/src)
  target_compile_options(${objects} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:$<TARGET_PROPERTY:saltus_options,INTERFACE_COMPILE_OPTIONS>>")
  set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()

function(saltus_component name)
  set(objects $<TARGET_OBJECTS:saltus_${name}_objects>)
  add_library(saltus_${name} STATIC ${objects} ${PROJECT_SOURCE_DIR}/src/${name}/register.cpp)
  add_library(saltus::${name} ALIAS saltus_${name})
  target_include_directories(saltus_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  set_target_properties(saltus_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON LINKER_LANGUAGE CXX
    EXPORT_NAME ${name})
  target_link_libraries(saltus_${name} PUBLIC saltus PRIVATE $<BUILD_INTERFACE:saltus_options>)
  # Pulls register.cpp out of the archive, which makes the part known to the library.
  target_link_options(saltus_${name} INTERFACE LINKER:-u,saltus_${name}_is_linked)

  # A module in all but name: another one may be linked with it.
  add_library(saltus_${name}_module SHARED ${objects})
  set(folders "$ORIGIN" ${CMAKE_INSTALL_RPATH})
  set_target_properties(saltus_${name}_module PROPERTIES PREFIX "" SUFFIX .so
    OUTPUT_NAME saltus_${name} LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR} LINKER_LANGUAGE CXX
    INSTALL_RPATH "${folders}")
  get_target_property(saltus_type saltus TYPE)
  if(saltus_type STREQUAL "SHARED_LIBRARY")
    target_link_libraries(saltus_${name}_module PRIVATE saltus)
  endif()
  install(TARGETS saltus_${name} EXPORT saltus-${name}-targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  if(SALTUS_CLI)
    install(TARGETS saltus_${name}_module LIBRARY DESTINATION lib/saltus COMPONENT ${name})
  endif()
endfunction()
