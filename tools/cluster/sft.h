// lie_cluster sft: fine-tunes a model as a config says.
#pragma once

#include <filesystem>

namespace lie {

/// Checks a config. Throws Error if it is not valid.
void check_sft_config(const std::filesystem::path& config);

}  // namespace lie
