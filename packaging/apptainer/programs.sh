#!/usr/bin/env bash
# Writes a script for each program of an image, which runs it by apptainer exec. As LIE_BIN, their folder lets the job scripts
# of slurm/, scripts/test_slurm.sh and the other scripts of the repository run the image's programs.
#
#   packaging/apptainer/programs.sh IMAGE DIRECTORY
#
# LIE_APPTAINER       the program and its global options [apptainer]
# LIE_APPTAINER_EXEC  options of exec, such as "--nv --bind /scratch" [none]
set -euo pipefail
[ $# = 2 ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
image="$(realpath "$1")"
mkdir -p "$2"
for program in lie_cluster lie_analyze lie_replay lie_verify; do
  cat >"$2/$program" <<SCRIPT
#!/bin/sh
exec ${LIE_APPTAINER:-apptainer} exec ${LIE_APPTAINER_EXEC:-} '$image' $program "\$@"
SCRIPT
  chmod +x "$2/$program"
done
