# Configures, in a fresh folder, the project beside this file.
file(REMOVE_RECURSE ${WORK})
set(ENV{CI} true)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK} -DSALTUS_SOURCE=${SALTUS_SOURCE}
    -DSALTUS_BLAS=${SALTUS_BLAS} -DSALTUS_NETCDF=${SALTUS_NETCDF} -DSALTUS_PNG=${SALTUS_PNG} -DSALTUS_PAGES=${SALTUS_PAGES}
  RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE out)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "A project that adds saltus cannot be configured:\n${out}")
endif()
