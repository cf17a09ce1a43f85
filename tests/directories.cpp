#include "tests/directories.h"

namespace lie {

const char* source_directory() { return LIE_SOURCE_DIR; }
const char* build_directory() { return LIE_BINARY_DIR; }

}  // namespace lie
