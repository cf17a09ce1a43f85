// The main program: one binary for all ranks of a job.
#include "common/comm/launcher.h"
#include "common/process/program.h"
#include "tools/cluster/commands.h"

int main(int argc, char** argv) {
  // Errors of the command line are reported once for the job, before MPI is initialized.
  return lie::run_program("error", [&] { return lie::run_command_line(argc, argv); },
                          {.reports_errors = lie::launcher::rank() == 0});
}
