// The prompts and phrases of assets/judge, built in, or a user's own in their place.
#pragma once

#include <filesystem>
#include <string>

namespace lie::judge {

/// The text assets/judge/NAME.txt, or `directory`/NAME.txt unless that is empty. Throws Error if
/// that file is missing.
std::string judge_text(const std::string& name, const std::filesystem::path& directory);

}  // namespace lie::judge
