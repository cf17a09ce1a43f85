// The identity of this build, and of the host that runs the process.
#pragma once

#include <string>
#include <string_view>

namespace lie {

/// Returns the version and commit that the program was built from: "0.1.0+3b80d0e", with "-dirty"
/// for uncommitted changes, or the version alone if git was not available.
std::string_view build_id();

/// Returns the host name, or "unknown host" if the system does not provide it.
std::string host_name();

}  // namespace lie
