# What a wheel carries works where nothing of ours is installed: fmt, zlib and the C++ library are
# inside the files. OpenBLAS is loaded where it is found, as always.
set(SALTUS_FMT fmt::fmt)
if(SALTUS_WHEEL)
  set(SALTUS_FMT fmt::fmt-header-only)
  find_library(SALTUS_STATIC_ZLIB libz.a)
  if(SALTUS_STATIC_ZLIB)
    set(ZLIB_LIBRARY ${SALTUS_STATIC_ZLIB})
  endif()
  if(NOT APPLE)
    add_link_options(-static-libstdc++ -static-libgcc)
  endif()
endif()
