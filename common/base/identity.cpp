#include "common/base/identity.h"

#include <unistd.h>

#include <array>
#include <climits>

namespace lie {

std::string_view build_id() { return LIE_BUILD_ID; }

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown host";
  return name.data();
}

}  // namespace lie
