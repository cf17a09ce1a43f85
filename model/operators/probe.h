// A check that a device computes at all, which takes milliseconds.
#pragma once

#include "model/operators/operators.h"

namespace lie {

/// Allocates memory, and runs a matmul and a norm whose results every implementation represents
/// exactly. Throws Error if an element differs, or as the operators do if the device fails.
void probe(Operators& operators);

}  // namespace lie
