// What a training run says at its start and at its end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/comm/job.h"
#include "common/comm/roles.h"
#include "tools/run/config/memory_plan.h"
#include "tools/run/config/train_config.h"
#include "tools/run/start/run_summary.h"
#include "tools/run/start/start.h"

namespace lie {

/// The run, where it begins, its model and data, the memory of its roles, and the ranks of
/// `layout`; of a run that has all its steps what end_run() says. Lines of at most 80 columns, but
/// for paths and commands.
std::string start_text(const TrainConfig& config, const PreparedRun& run, const RoleLayout& layout);

/// After the run: rank 0 says how it ended, where its results are and what comes next; if it came
/// to a stop, the job's exit status says so, too.
void end_run(Job& job, const TrainConfig& config, const EarlyStop& stop);

/// A dry run's result: on standard output `config`, which starts the same run, beside it what a
/// start says.
void tell_dry_run(const std::string& config, std::string_view role, const std::string& start);

/// What one process of a role holds.
struct RoleMemory {
  std::string role;
  MemoryPlan memory;
};
/// Of learner 0 and, where there are any, an actor. Throws Error as actor_memory() does.
std::vector<RoleMemory> memory_of_roles(const TrainConfig& config, const ModelConfig& model,
                                        const ComputeDTypes& dtypes, const RoleLayout& layout);

// Facts that several commands tell.
/// "learner 130 MiB: ...", a line each.
Fact memory_fact(std::span<const RoleMemory> roles);
/// "assets/count_pairs/model: 0.413 M parameters"
Fact model_fact(const std::string& path, std::int64_t parameters);
/// How prompts are made and responses end; `ends`: EndTokens::text.
std::vector<Fact> text_facts(const std::string& prompt_template, const RolloutOptions& rollout,
                             const std::string& ends);
/// Where the last checkpoint is; nothing where there is none.
std::vector<Fact> checkpoint_facts(const std::filesystem::path& run_directory);
/// "runs/demo: a new run of 40 steps", or "runs/demo: goes on after step 12 of 40".
std::string run_headline(const std::string& directory, std::optional<std::int64_t> step,
                         const std::string& length);

}  // namespace lie
