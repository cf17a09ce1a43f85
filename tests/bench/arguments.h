// Helpers for the command line of a benchmark. Its main() declares the options.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>

#include "common/base/dtype.h"
#include "common/process/program.h"
#include "tools/arguments/values.h"

namespace lie::bench {

/// Adds a count with its default. A name without dashes is a positional argument.
template <typename Number>
CLI::Option* add_count(CLI::App& app, const std::string& name, Number& value) {
  return app.add_option(name, value)->check(integers(1))->capture_default_str();
}

/// Adds the number of threads, 2 by default.
inline void add_threads(CLI::App& app, int& value) {
  app.add_option("threads", value)->check(integers(1, 1024))->capture_default_str();
}

/// Adds --products: float32 as with model.device cpu, or bfloat16 as with cpu-bf16.
inline void add_products(CLI::App& app, DType& products) {
  const std::map<std::string, DType> names = {{"float32", DType::kFloat32},
                                              {"bfloat16", DType::kBFloat16}};
  app.add_option("--products", products)->transform(CLI::CheckedTransformer(names));
}

/// Parses the command line and runs `measure`. --help and invalid arguments end the program before
/// that.
inline int run_bench(CLI::App& app, int argc, char** argv, const std::function<void()>& measure) {
  return run_program(argv[0], [&] {
    CLI11_PARSE(app, argc, argv);
    measure();
    return 0;
  });
}

}  // namespace lie::bench
