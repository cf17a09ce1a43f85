// The run summary that commands log at their start and end: a headline, and lines of name and
// value.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "actors/rollout_options.h"
#include "common/dataset/data_options.h"
#include "tools/run/config/role_memory.h"

namespace lie {

struct SummaryEntry {
  std::string name;
  std::string value;        // may have several lines
  bool is_command = false;  // for commands to copy: lines are not wrapped
};

/// Returns the headline, followed by each entry on lines of its own. Lines are wrapped after commas
/// or at spaces to fit 80 columns.
std::string run_summary_text(std::string_view headline, std::span<const SummaryEntry> entries);

/// Returns the entry "next" with the command to type next, quoted for a shell:
/// "build/release/bin/lie_analyze runs/demo". `program` is taken from the directory of the running
/// program.
SummaryEntry next_command_entry(std::string_view program, const std::string& argument,
                                const std::vector<std::string>& more = {});

/// Returns the entry "memory" with a line for each role: "learner 130 MiB: ...".
SummaryEntry memory_entry(std::span<const RoleMemory> roles);
/// Returns the adapter that a run trains, with the number of its parameters.
SummaryEntry adapter_entry(const ModelOptions& options, const ModelConfig& model);
/// Returns the entry "model": "assets/count_pairs/model: 0.413 M parameters".
SummaryEntry model_entry(const std::string& path, std::int64_t parameters);
/// Returns the entries on how prompts are rendered and begin, and where responses end. `ends` is
/// EndTokens::text.
std::vector<SummaryEntry> text_entries(const PromptOptions& data, const std::string& model_path,
                                       const RolloutOptions& rollout, const std::string& ends);
/// Returns the entry with the path of the last checkpoint, or none if there is no checkpoint.
std::vector<SummaryEntry> checkpoint_entries(const std::filesystem::path& run_directory);
/// Returns "runs/demo: a new run of 40 steps", or "runs/demo: resumes after step 12 of 40".
std::string run_headline(const std::string& directory, std::optional<std::int64_t> step,
                         const std::string& length);

/// Prints the resolved `config` to standard output and logs `start`, the start text, for `role`.
void print_dry_run(const std::string& config, std::string_view role, const std::string& start);

}  // namespace lie
