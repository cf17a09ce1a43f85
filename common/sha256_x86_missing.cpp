// For other CPUs.
#include "common/sha256_blocks.h"

namespace lie {

Sha256Blocks x86_sha256_blocks() { return nullptr; }

}  // namespace lie
