// model_roundtrip IN_DIR OUT_DIR: reads a Hugging Face model directory and writes it to OUT_DIR.
#include <fmt/format.h>

#include "common/base/error.h"
#include "model/weights/weights.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: model_roundtrip IN_DIR OUT_DIR\n");
    return 2;
  }
  try {
    std::filesystem::create_directories(argv[2]);
    const auto operators = lie::make_cpu_operators(1);
    lie::save_weights(lie::load_weights(argv[1], *operators), argv[2]);
  } catch (const lie::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
