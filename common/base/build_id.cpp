#include "common/base/build_id.h"

namespace lie {

std::string_view build_id() { return LIE_BUILD_ID; }

}  // namespace lie
