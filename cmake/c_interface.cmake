# libsaltus_c: the functions of include/saltus/c.h, with libsaltus inside, for other languages.
file(GLOB c_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/c/*.cpp)
add_library(saltus_c SHARED ${c_sources})
add_library(saltus::c ALIAS saltus_c)
set_target_properties(saltus_c PROPERTIES EXPORT_NAME c CXX_VISIBILITY_PRESET hidden
  VISIBILITY_INLINES_HIDDEN ON LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_include_directories(saltus_c
  PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
  PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(saltus_c PRIVATE ${SALTUS_CHECKED})
# It translates; what takes time is in the library, but for passes over the caller's rows.
target_compile_options(saltus_c PRIVATE $<$<CONFIG:Release>:-O1>)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/c/langevin.cpp PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O3>)
target_link_libraries(saltus_c PRIVATE saltus saltus_options ${SALTUS_FMT} nlohmann_json::nlohmann_json)
if(NOT APPLE)
  set(exports ${PROJECT_SOURCE_DIR}/src/c/exports.map)
  target_link_options(saltus_c PRIVATE LINKER:--version-script,${exports})
  set_property(TARGET saltus_c APPEND PROPERTY LINK_DEPENDS ${exports})
endif()
