// From model.device to the operators that compute there.
#pragma once

#include <memory>

#include "model/operators.h"
#include "tools/run/options.h"

namespace lie {

/// `threads`: the rank's share of the host's cores, unless model.threads says otherwise. Throws
/// Error if the device is unknown or not there.
std::unique_ptr<Operators> make_operators(const ModelOptions& options, int threads);

}  // namespace lie
