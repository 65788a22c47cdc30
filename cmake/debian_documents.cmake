# Run by CPack before it packs: completes each package under share/doc, packs its manual pages, and
# leaves the licence's text to Debian's own copy.
string(TIMESTAMP today "%a, %d %b %Y %H:%M:%S +0000" UTC)  # of SOURCE_DATE_EPOCH, where it is set
file(GLOB packages LIST_DIRECTORIES true ${CPACK_TEMPORARY_DIRECTORY}/*)
find_program(GZIP gzip REQUIRED)
foreach(package ${packages})
  if(NOT IS_DIRECTORY ${package}/usr)
    continue()
  endif()
  get_filename_component(component ${package} NAME)
  string(TOUPPER ${component} key)
  set(name ${CPACK_DEBIAN_${key}_PACKAGE_NAME})
  set(documents ${package}/usr/share/doc/${name})
  file(REMOVE ${package}/usr/share/doc/saltus/LICENSE)
  file(WRITE ${documents}/copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: saltus

Files: *
Copyright: 2026 The saltus authors
License: Apache-2.0
Comment: The pages of 'saltus report' hold Chart.js, copyright Chart.js Contributors, under the Expat licence.

License: Apache-2.0
 On Debian systems the full text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
")
  configure_file(${CPACK_SALTUS_SOURCE}/CHANGELOG.md ${documents}/changelog COPYONLY)
  file(WRITE ${documents}/changelog.Debian "saltus (${CPACK_PACKAGE_VERSION}-1) unstable; urgency=medium

  * Version ${CPACK_PACKAGE_VERSION}: see changelog.gz.

 -- ${CPACK_PACKAGE_CONTACT}  ${today}
")
  file(GLOB pages ${package}/usr/share/man/man1/*.1)
  # MPI's libraries lie where the system looks anyway.
  if(EXISTS ${package}/usr/lib/saltus/saltus_mpi.so)
    file(RPATH_REMOVE FILE ${package}/usr/lib/saltus/saltus_mpi.so)
  endif()
  execute_process(COMMAND ${GZIP} -9nf ${documents}/changelog ${documents}/changelog.Debian
    ${pages} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
