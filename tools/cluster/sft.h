// lie_cluster sft, for its tests.
#pragma once

#include <filesystem>

namespace lie {

/// Checks a config of sft. Throws Error if it is not valid.
void check_sft_config(const std::filesystem::path& config);

}  // namespace lie
