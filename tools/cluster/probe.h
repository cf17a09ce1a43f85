// lie_cluster probe: whether the GPUs of this host compute.
#pragma once

#include <ostream>
#include <string>

namespace lie {

/// Probes the device, or each GPU of this host for "cuda", and writes a line for each that passes.
/// Throws Error if one fails, or if this build or host has no such device.
void probe_devices(const std::string& device, std::ostream& out);

}  // namespace lie
