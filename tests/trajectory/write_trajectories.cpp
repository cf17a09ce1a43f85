// write_trajectories DIRECTORY FIRST_STEP LAST_STEP [wait]: logs example steps and prints "step N"
// after each. With `wait` it continues only when a line arrives on standard input.
#include <cstdio>
#include <iostream>
#include <string>

#include "common/trajectory/writer.h"
#include "tests/trajectory/example_steps.h"

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::int64_t first = std::stoll(argv[2]);
  const std::int64_t last = std::stoll(argv[3]);
  const bool wait = argc > 4;
  try {
    lie::TrajectoryWriter writer(argv[1], lie::example_info(0, 1, first - 1));
    std::string line;
    for (std::int64_t step = first; step <= last; ++step) {
      writer.append(lie::example_step({}, step));
      std::cout << "step " << step << std::endl;
      if (wait && !std::getline(std::cin, line)) break;
    }
    writer.close();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
