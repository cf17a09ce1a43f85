// The folders of this build's sources and outputs. Only directories.cpp contains the paths, so that
// compiled tests do not depend on them and clones can share a compiler cache.
#pragma once

namespace lie {

/// Returns the value of LIE_SOURCE_DIR in the environment if a packed test runs elsewhere.
const char* source_directory();
const char* build_directory();

}  // namespace lie
