// What a training run says at its start and at its end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/comm/job.h"
#include "common/comm/roles.h"
#include "tools/run/facts.h"
#include "tools/run/start.h"
#include "tools/run/train_config.h"

namespace lie {

/// The run, where it begins, its model and data, the memory of its roles, and the ranks of
/// `layout`; of a run that has all its steps what end_run() says. Lines of at most 80 columns, but
/// for paths and commands.
std::string start_text(const TrainConfig& config, const PreparedRun& run, const RoleLayout& layout);

/// After the run: rank 0 says how it ended, where its results are and what comes next; if it came
/// to a stop, the job's exit status says so, too.
void end_run(Job& job, const TrainConfig& config, const EarlyStop& stop);

// Facts that several commands tell.
/// "assets/count_pairs/model: 0.413 M parameters"
Fact model_fact(const std::string& path, std::int64_t parameters);
/// Where the last checkpoint is; nothing where there is none.
std::vector<Fact> checkpoint_facts(const std::filesystem::path& run_directory);

}  // namespace lie
