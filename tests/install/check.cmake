# Installs saltus into a fresh folder, builds a project that finds it there, and runs its program.
file(REMOVE_RECURSE ${WORK})
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN} failed:\n${out}")
  endif()
endfunction()
# The manifest of an installation that a user made from this build must stay: `make uninstall` reads it.
set(manifest ${SALTUS_BUILD}/install_manifest.txt)
file(MAKE_DIRECTORY ${WORK})
if(EXISTS ${manifest})
  configure_file(${manifest} ${WORK}/manifest_of_user.txt COPYONLY)
endif()
run(${CMAKE_COMMAND} --install ${SALTUS_BUILD} --prefix ${WORK}/prefix)
file(RENAME ${manifest} ${WORK}/manifest.txt)
if(EXISTS ${WORK}/manifest_of_user.txt)
  configure_file(${WORK}/manifest_of_user.txt ${manifest} COPYONLY)
endif()
run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${WORK}/build -DCMAKE_PREFIX_PATH=${WORK}/prefix
    -DCMAKE_CXX_FLAGS=${FLAGS} -DCUDA=${CUDA})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/consumer)
run(${WORK}/build/c_consumer)
if(CUDA)
  run(${WORK}/build/cuda_consumer)
endif()
run(${WORK}/prefix/bin/saltus --version)

# No library is looked for in the current folder: no part of the search path is empty or relative.
find_program(READELF readelf REQUIRED)
foreach(file ${WORK}/prefix/bin/saltus ${WORK}/prefix/lib/libsaltus_c.so ${WORK}/prefix/lib/saltus/saltus_cuda.so
    ${WORK}/prefix/lib/saltus/saltus_torch.so)
  if(NOT EXISTS ${file})
    continue()
  endif()
  execute_process(COMMAND ${READELF} -d ${file} OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
  if(dynamic MATCHES "R(UN)?PATH\\)[^[]*\\[([^]]*)\\]")
    string(REPLACE ":" "|" parts "|${CMAKE_MATCH_2}|")
    if(parts MATCHES "\\|\\||\\|[^/$|]")
      message(FATAL_ERROR "${file} looks for libraries in '${CMAKE_MATCH_2}'.")
    endif()
  endif()
endforeach()

# The manual and the completions are in the usual places.
foreach(file man/man1/saltus.1 man/man1/saltus-learn-rbm.1 bash-completion/completions/saltus
    zsh/site-functions/_saltus fish/vendor_completions.d/saltus.fish)
  if(NOT EXISTS ${WORK}/prefix/share/${file})
    message(FATAL_ERROR "share/${file} was not installed.")
  endif()
endforeach()

# Uninstalling removes what was installed, says so, and leaves other files alone.
set(other ${WORK}/prefix/include/saltus/core/of_the_user.hpp)
file(WRITE ${other} "")
execute_process(COMMAND ${CMAKE_COMMAND} -DMANIFEST=${WORK}/manifest.txt
  -P ${SOURCE}/cmake/uninstall.cmake ERROR_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
if(NOT said MATCHES "removed ${WORK}/prefix/bin/saltus\n" OR said MATCHES "not there"
    OR NOT said MATCHES "([0-9]+) of ([0-9]+) files removed" OR NOT CMAKE_MATCH_1 EQUAL CMAKE_MATCH_2)
  message(FATAL_ERROR "make uninstall says:\n${said}")
endif()
file(GLOB_RECURSE left ${WORK}/prefix/*)
if(NOT left STREQUAL other)
  message(FATAL_ERROR "After make uninstall there are ${left}, expected ${other} alone.")
endif()
if(EXISTS ${WORK}/prefix/lib/saltus OR EXISTS ${WORK}/prefix/include/saltus/run)
  message(FATAL_ERROR "make uninstall leaves empty folders of saltus.")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -DMANIFEST=${WORK}/no-manifest.txt
  -P ${SOURCE}/cmake/uninstall.cmake ERROR_VARIABLE said RESULT_VARIABLE result)
string(REGEX REPLACE "[ \n]+" " " said "${said}")  # CMake breaks lines
if(result EQUAL 0 OR NOT said MATCHES "nothing was installed")
  message(FATAL_ERROR "make uninstall without an installation: ${said}")
endif()
