#include "tools/cluster/step_time.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include "common/base/error.h"
#include "common/base/run_files.h"
#include "common/io/metrics_log.h"
#include "common/trajectory/run_reader.h"

namespace lie::planning {
namespace {

/// `threads`: the number for each rank; 0: the rank's share of the cores.
double processors(const std::vector<int>& ranks, const Hosts& hosts, std::int64_t threads) {
  std::map<std::int64_t, std::int64_t> counts;  // ranks by host
  for (const int rank : ranks) ++counts[hosts.host_of(rank)];
  std::int64_t sum = 0;
  for (const auto& [host, count] : counts) {
    const std::int64_t share = std::max<std::int64_t>(hosts.cores / count, 1);
    const std::int64_t wanted = count * (threads > 0 ? threads : share);
    sum += hosts.cores > 0 ? std::min(wanted, hosts.cores) : count;
  }
  return static_cast<double>(sum);
}

/// Returns the roles of the ranks that the log of a run names. Learners are the first ranks.
RoleLayout logged_layout(const std::filesystem::path& run_directory) {
  const RunReader run(run_directory / kTrajectories);
  if (run.samples().empty()) {
    fail("{}: the log holds no response to name the ranks of the run", run_directory.string());
  }
  std::vector<std::int32_t> actors, reward_workers;
  run.read(std::array{run.into(actors, schema::sample::kActorRank),
                      run.into(reward_workers, schema::sample::kRewardRank)});
  const std::set<int> acting(actors.begin(), actors.end());
  const std::set<int> scoring(reward_workers.begin(), reward_workers.end());
  RoleLayout layout{.reward_workers = {scoring.begin(), scoring.end()},
                    .actors = {acting.begin(), acting.end()}};
  for (int rank = 0; rank < run.segments().back().info().learner_count; ++rank) {
    layout.learners.push_back(rank);
  }
  const int last = std::max({*acting.rbegin(), *scoring.rbegin(), layout.learners.back()});
  layout.places.resize(static_cast<std::size_t>(last) + 1);
  return layout;
}

/// Returns the steps that show how long a step takes.
std::vector<MetricsRow> steady_steps(const std::filesystem::path& run_directory) {
  std::vector<MetricsRow> rows = read_metrics(run_directory / kMetricsFile);
  std::erase_if(rows, [](const MetricsRow& row) {
    return row.step < 2 || !row.find("step_seconds") || row.value_or_zero("evaluate_seconds") > 0;
  });
  return rows;
}

}  // namespace

Processors processors_of(const RoleLayout& layout, const Hosts& hosts, std::int64_t threads) {
  const auto ranks = static_cast<std::int64_t>(layout.places.size());
  const std::int64_t host_count = hosts.host_of(ranks - 1) + 1;
  return {.actors = processors(layout.actors, hosts, threads),
          .reward_workers = processors(layout.reward_workers, hosts, 1),
          .learners = processors(layout.learners, hosts, threads),
          .all = static_cast<double>(hosts.cores > 0 ? host_count * hosts.cores : ranks)};
}

std::optional<MeasuredStep> measured_step(const std::filesystem::path& run_directory) {
  const std::vector<MetricsRow> rows = steady_steps(run_directory);
  if (rows.empty()) return std::nullopt;
  const TrainConfig config = load_train_config(run_directory / kConfigFile, {});
  MeasuredStep mean{.first_step = rows.front().step,
                    .last_step = rows.back().step,
                    .responses = responses_of(config),
                    .layout = logged_layout(run_directory),
                    .threads = config.model.threads};
  for (const MetricsRow& row : rows) {
    const auto add = [&](double& sum, double value) {
      sum += value / static_cast<double>(rows.size());
    };
    const auto busy = [&](const char* idle_share) {
      return row.value_or_zero("step_seconds") * (1 - row.find(idle_share).value_or(1));
    };
    // If actors run ahead, the learner waits for less than the time they need.
    add(mean.generate, std::max(row.value_or_zero("generate_seconds"), busy("idle_share_actor")));
    add(mean.score, busy("idle_share_reward_worker"));
    add(mean.update, row.value_or_zero("update_seconds"));
    add(mean.publish, row.value_or_zero("publish_seconds"));
    add(mean.log, row.value_or_zero("log_seconds"));
    add(mean.response_tokens, row.value_or_zero("response_tokens"));
  }
  return mean;
}

StepTime step_time(const MeasuredStep& run, const Processors& of_run, const Processors& planned,
                   std::int64_t asked, std::int64_t max_staleness) {
  const double work = static_cast<double>(asked) / static_cast<double>(run.responses);
  const double acting = run.generate * work * of_run.actors / planned.actors;
  const double scoring = run.score * work * of_run.reward_workers / planned.reward_workers;
  StepTime time{.generate = std::max(acting, scoring),
                .update = run.update * work * of_run.learners / planned.learners,
                .publish = run.publish};
  const double learning = time.update + time.publish + run.log * work;
  const double shared = (acting * planned.actors + time.update * planned.learners) / planned.all;
  time.step =
      max_staleness == 0 ? time.generate + learning : std::max({time.generate, learning, shared});
  time.tokens_per_second = run.response_tokens * work / time.step;
  time.idle_actor = 1 - acting / time.step;
  time.idle_reward_worker = 1 - scoring / time.step;
  time.idle_learner = 1 - learning / time.step;
  return time;
}

std::int64_t responses_of(const TrainConfig& config) {
  return config.tickets.prompts_per_step * config.tickets.samples_per_prompt;
}

}  // namespace lie::planning
