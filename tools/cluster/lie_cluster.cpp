// The main program: one binary for all ranks of a job.
#include "tools/cluster/commands.h"

int main(int argc, char** argv) { return lie::run_command_line(argc, argv); }
