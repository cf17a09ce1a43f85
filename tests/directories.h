// Where this build's sources and its build folder are. Only directories.cpp knows the paths, so
// that compiled tests do not depend on them and a compiler cache serves every clone.
#pragma once

namespace lie {

const char* source_directory();
const char* build_directory();

}  // namespace lie
