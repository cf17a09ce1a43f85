// Runs a test on every instruction set that the kernels are compiled for.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>

#include "hwy/targets.h"

namespace lie::test {

/// Runs `test` on every compiled instruction set that this machine has.
inline void on_every_target(const std::function<void()>& test) {
  for (const std::int64_t target : {HWY_AVX2, HWY_AVX3}) {
    hwy::SetSupportedTargetsForTest(0);
    if ((hwy::SupportedTargets() & target) == 0) continue;
    hwy::SetSupportedTargetsForTest(target);
    SCOPED_TRACE(hwy::TargetName(target));
    test();
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace lie::test
