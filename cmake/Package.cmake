# cpack -G DEB makes a Debian package of the installed files in /usr. Its dependencies are those that dpkg-shlibdeps finds in
# the programs, so the package fits the release of Debian or Ubuntu that it was built on. scripts/package_deb.sh calls it.
if(LIE_CUDA OR LIE_VERIFIER_ONLY)
  return()  # CUDA's libraries stay in .deps, where a package could not find them
endif()
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME lie-cluster)
set(CPACK_PACKAGE_VENDOR "the LIE Cluster authors")
set(CPACK_PACKAGE_CONTACT "the LIE Cluster authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "reinforcement learning for reasoning models under MPI")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
  "Trains language models by GRPO, GSPO and related losses with length-incentivized
exploration, on the ranks of an MPI job. Runs are logged in HDF5, resume
bit-identically and can be replayed. Contains lie_cluster, lie_analyze,
lie_replay, lie_verify, the Python reader of run directories and job scripts for
Slurm.")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS openmpi-bin)                        # mpirun; the libraries are found by dpkg-shlibdeps
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3-h5py, python3-yaml")    # the reader of run directories
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "slurm-client")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/packaging/debian/prerm")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# Component debian holds the files that only this package has.
install(FILES LICENSE DESTINATION share/doc/lie-cluster RENAME copyright COMPONENT debian EXCLUDE_FROM_ALL)
install(CODE "
  set(modules \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/python3/dist-packages\")
  file(MAKE_DIRECTORY \"\${modules}\")
  file(CREATE_LINK ../../../share/lie_cluster/python/lie_cluster \"\${modules}/lie_cluster\" SYMBOLIC)"
  COMPONENT debian EXCLUDE_FROM_ALL)
set(CPACK_INSTALL_CMAKE_PROJECTS
  "${PROJECT_BINARY_DIR};lie_cluster;ALL;/" "${PROJECT_BINARY_DIR};lie_cluster;debian;/")
include(CPack)
