// write_example_run DIRECTORY SEED LAST_LENGTH [STEPS]: writes a synthetic run of 40 steps.
#include <cstdio>
#include <string>

#include "tests/tools/example_run.h"

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  try {
    lie::ExampleRun run{.last_length = std::stod(argv[3]),
                        .seed = static_cast<std::uint32_t>(std::stoul(argv[2])),
                        .starts = true};
    if (argc > 4) run.steps = std::stoll(argv[4]);
    lie::write_example_run(argv[1], run);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
