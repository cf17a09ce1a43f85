#include "tests/directories.h"

#include <cstdlib>

namespace lie {

const char* source_directory() {
  const char* moved = std::getenv("LIE_SOURCE_DIR");
  return moved != nullptr ? moved : LIE_SOURCE_DIR;
}
const char* build_directory() { return LIE_BINARY_DIR; }

}  // namespace lie
