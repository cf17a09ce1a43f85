# Defines Arrow with Parquet as one target lie::arrow, and LIE_ARROW: whether it was found. Your own Arrow (Arrow_DIR or
# CMAKE_PREFIX_PATH, 15 or later) comes first, then the parts of the pyarrow wheel that scripts/setup.sh unpacked. Without
# Arrow everything is built, but Parquet files are refused.
set(arrow_minimum 15)
set(arrow_home "${LIE_DEPS_DIR}/arrow-26.0.1")
set(LIE_ARROW OFF)
if(Arrow_DIR OR NOT EXISTS "${arrow_home}/complete")
  find_package(Arrow QUIET)  # its version file accepts only its own major version
  if(Arrow_FOUND AND Arrow_VERSION VERSION_LESS arrow_minimum)
    message(STATUS "Arrow ${Arrow_VERSION} is too old: ${arrow_minimum} or later is needed.")
    set(Arrow_FOUND FALSE)
  endif()
  if(Arrow_FOUND)
    find_package(Parquet QUIET HINTS "${Arrow_DIR}/../Parquet")
  endif()
  if(Arrow_FOUND AND Parquet_FOUND)
    add_library(lie::arrow INTERFACE IMPORTED)
    target_link_libraries(lie::arrow INTERFACE Parquet::parquet_shared Arrow::arrow_shared)
    set(LIE_ARROW ON)
  else()
    message(STATUS "Arrow not found: Parquet files will be refused. scripts/setup.sh fetches it, or set Arrow_DIR.")
  endif()
  return()
endif()

add_library(lie::arrow INTERFACE IMPORTED)
target_include_directories(lie::arrow SYSTEM INTERFACE "${arrow_home}/include")
target_link_libraries(lie::arrow INTERFACE
  "${arrow_home}/lib/libparquet.so.2600" "${arrow_home}/lib/libarrow.so.2600")
target_link_options(lie::arrow INTERFACE "-Wl,-rpath,${arrow_home}/lib")
list(APPEND LIE_BUNDLED_LIBRARIES "${arrow_home}/lib/libparquet.so.2600" "${arrow_home}/lib/libarrow.so.2600")
set(LIE_ARROW ON)
