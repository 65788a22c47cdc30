# cmake --install: the program with its manual, and a package that other projects find with
# find_package(saltus). Everything belongs to the component `program` or `development`, or to the
# module of a part: `cuda`, `torch`, `mpi`.
include(CMakePackageConfigHelpers)

install(TARGETS saltus EXPORT saltus-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT program NAMELINK_COMPONENT development)
if(SALTUS_CLI)
  install(TARGETS saltus_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/saltus DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT development)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/saltus
  COMPONENT program)
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/saltus)
install(EXPORT saltus-targets NAMESPACE saltus:: DESTINATION ${config_dir} COMPONENT development)
# A wheel holds the library beside the modules of the package saltus, and the program.
if(SALTUS_WHEEL)
  install(TARGETS saltus_c LIBRARY DESTINATION saltus COMPONENT python)
  if(SALTUS_CLI)
    install(TARGETS saltus_cli RUNTIME DESTINATION ${SKBUILD_SCRIPTS_DIR} COMPONENT python)
  endif()
endif()
if(SALTUS_C)
  install(TARGETS saltus_c EXPORT saltus-c-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    COMPONENT development)
  install(EXPORT saltus-c-targets NAMESPACE saltus:: DESTINATION ${config_dir} COMPONENT development)
endif()
if(SALTUS_HAVE_CUDA)
  install(EXPORT saltus-cuda-targets NAMESPACE saltus:: DESTINATION ${config_dir} COMPONENT development)
endif()
if(SALTUS_HAVE_TORCH)
  install(EXPORT saltus-torch-targets NAMESPACE saltus:: DESTINATION ${config_dir} COMPONENT development)
endif()
if(SALTUS_HAVE_MPI)
  install(EXPORT saltus-mpi-targets NAMESPACE saltus:: DESTINATION ${config_dir} COMPONENT development)
endif()
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/saltus-config.cmake.in
  ${PROJECT_BINARY_DIR}/saltus-config.cmake INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/saltus-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/saltus-config.cmake
  ${PROJECT_BINARY_DIR}/saltus-config-version.cmake DESTINATION ${config_dir} COMPONENT development)
