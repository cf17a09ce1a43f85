#include "tests/bench/kernels/device_clock.h"

namespace lie::bench {

std::string device_name(const Operators& /*operators*/) { return ""; }

}  // namespace lie::bench
