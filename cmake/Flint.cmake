# Defines FLINT and Arb as one target lie::flint. Since FLINT 3 they are one library. Debian 12 has FLINT 2.9 with a separate
# library for Arb.
find_path(FLINT_INCLUDE_DIR flint/flint.h REQUIRED)
find_library(FLINT_LIBRARY flint REQUIRED)
find_library(GMP_LIBRARY gmp REQUIRED)
find_library(ARB_LIBRARY NAMES arb flint-arb)

add_library(lie::flint INTERFACE IMPORTED)
target_include_directories(lie::flint SYSTEM INTERFACE "${FLINT_INCLUDE_DIR}")
foreach(library IN ITEMS ARB_LIBRARY FLINT_LIBRARY GMP_LIBRARY)
  if(${library})
    target_link_libraries(lie::flint INTERFACE "${${library}}")
  endif()
endforeach()
