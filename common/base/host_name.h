// The name of the host that runs this process.
#pragma once

#include <string>

namespace lie {

/// Returns the host name, or "unknown host" where the system does not tell it.
std::string host_name();

}  // namespace lie
