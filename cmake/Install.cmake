# cmake --install build/release --prefix P installs the programs, the libraries of .deps that they load, and the files that a
# user starts from. P can be moved. System libraries (MPI, HDF5, ...) and your own Arrow are not copied.
# Arrow.cmake sets LIE_BUNDLED_LIBRARIES.

# Installs a program, without the paths of .deps in its RUNPATH; CUDA's libraries, some 4 GB, stay there, so preset cuda
# keeps the paths. install(TARGETS) would reserve the space for an installed RUNPATH by empty entries in that of the build
# tree, and for those the loader searches the working directory.
function(lie_install program)
  set(without_deps "list(FILTER installed EXCLUDE REGEX \"^${LIE_DEPS_DIR}/\")")
  if(LIE_CUDA)
    set(without_deps "")
  endif()
  install(PROGRAMS "$<TARGET_FILE:${program}>" DESTINATION bin)
  install(CODE "
    set(file \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/bin/${program}\")
    file(READ_ELF \"\${file}\" RUNPATH built)
    set(installed \${built})
    list(REMOVE_DUPLICATES installed)
    ${without_deps}
    list(JOIN built : built)
    list(JOIN installed : installed)
    file(RPATH_CHANGE FILE \"\${file}\" OLD_RPATH \"\${built}\" NEW_RPATH \"\${installed}\")")
endfunction()

lie_install(lie_verify)
if(LIE_VERIFIER_ONLY)
  return()
endif()
foreach(program lie_cluster lie_analyze lie_replay)
  lie_install(${program})
endforeach()
set(share share/lie_cluster)
if(NOT LIE_CUDA AND LIE_BUNDLED_LIBRARIES)
  install(FILES ${LIE_BUNDLED_LIBRARIES} DESTINATION lib/lie_cluster)
  file(GLOB arrow_licenses "${arrow_home}/pyarrow-*.dist-info/licenses/*.txt")  # Apache-2.0 asks for license and notice
  install(FILES ${arrow_licenses} DESTINATION ${share}/licenses/arrow)
endif()
install(DIRECTORY configs assets slurm examples docs DESTINATION ${share} USE_SOURCE_PERMISSIONS)
install(DIRECTORY python DESTINATION ${share}
  PATTERN __pycache__ EXCLUDE PATTERN build EXCLUDE PATTERN *.egg-info EXCLUDE)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${share})
if(LIE_JINJA)
  install(FILES "${LIE_JINJA_DIR}/LICENSE" DESTINATION ${share}/licenses RENAME llama.cpp OPTIONAL)
endif()

configure_file(cmake/modulefile.in "${PROJECT_BINARY_DIR}/modulefile" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/modulefile" DESTINATION share/modulefiles/lie_cluster RENAME ${PROJECT_VERSION})
