// The option --instructions of a benchmark, for figures of an older processor.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "hwy/targets.h"

namespace lie::bench {

/// Adds --instructions: avx2 for kernels without AVX-512, as on a processor that lacks it.
inline void add_instructions(CLI::App& app) {
  app.add_option_function<std::string>(
         "--instructions", [](const std::string&) { hwy::SetSupportedTargetsForTest(HWY_AVX2); },
         "use no newer instructions than these")
      ->check(CLI::IsMember({"avx2"}));
}

}  // namespace lie::bench
