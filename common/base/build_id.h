// Which build this is.
#pragma once

#include <string_view>

namespace lie {

/// Version and commit the program was built from: "0.1.0+3b80d0e", with "-dirty" for uncommitted
/// changes, or the version alone where there was no git.
std::string_view build_id();

}  // namespace lie
