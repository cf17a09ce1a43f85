#include "tools/run/mpi_run.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/comm/channel.h"
#include "common/comm/mpi_collective.h"
#include "tools/run/players.h"

namespace lie {
namespace {

std::unique_ptr<Collective> weight_group(Job& job, const RoleLayout& layout) {
  std::vector<int> members = {layout.learners.front()};
  members.insert(members.end(), layout.actors.begin(), layout.actors.end());
  return mpi_collective(job, std::move(members), Tag::kWeightGroup);
}

/// Scores on learner 0 itself, which waits for groups anyway, where no rank is left for a reward
/// worker.
class ScoringSource : public PollableSource<ScoredGroup> {
 public:
  ScoringSource(PollableSource<RolloutGroup>& rollouts, const ScoringOptions& options,
                const ProgramHost& host, DecodeText decode)
      : rollouts_(rollouts), scorer_(options, host), decode_(std::move(decode)) {}

  /// Ends the reward programs, once no group is left.
  void finish() { scorer_.finish(); }

  std::optional<ScoredGroup> receive() override { return score(rollouts_.receive()); }
  std::optional<ScoredGroup> try_receive() override { return score(rollouts_.try_receive()); }

 private:
  std::optional<ScoredGroup> score(std::optional<RolloutGroup> rollout) {
    if (!rollout) return std::nullopt;
    return score_group(scorer_, std::move(*rollout), decode_);
  }

  PollableSource<RolloutGroup>& rollouts_;
  Scorer scorer_;
  DecodeText decode_;
};

void act(Job& job, const TrainConfig& config, const RunStart& start, const RoleLayout& layout) {
  const auto assignments = mpi_ticket_client(job, layout.learners.front());
  const auto index = static_cast<std::size_t>(layout.index(job.rank(), Role::kActor));
  MpiSink<RolloutGroup> rollouts(job, Tag::kRollouts, layout.reward_workers, index);
  const auto group = weight_group(job, layout);
  play_actor(config, start,
             {*assignments, rollouts, *group, job.rank(), layout.threads(job.rank(), Role::kActor),
              [&job] { job.attend(); }});
}

void score(Job& job, const TrainConfig& config, const RunStart& start, const RoleLayout& layout) {
  MpiSource<RolloutGroup> rollouts(job, Tag::kRollouts, static_cast<int>(layout.actors.size()));
  MpiSink<ScoredGroup> scored(job, Tag::kScored, {layout.learners.front()});
  play_reward_worker(config, start, {rollouts, scored, job.rank(), [&job] { job.attend(); }});
}

void learn_and_coordinate(Job& job, const TrainConfig& config, const RunStart& start,
                          const RoleLayout& layout, const LearnerTransport& transport,
                          PollableSource<ScoredGroup>& scored) {
  const auto desk = mpi_ticket_desk(job, layout.actors);
  const auto group = weight_group(job, layout);
  play_learner_0(config, start, transport,
                 {*desk, static_cast<int>(layout.actors.size()), scored, *group});
}

void learn(Job& job, const TrainConfig& config, const RunStart& start, const RoleLayout& layout) {
  const auto learners = mpi_collective(job, layout.learners, Tag::kLearnerGroup);
  const LearnerTransport transport{*learners, layout.threads(job.rank(), Role::kLearner)};
  if (learners->rank() > 0) {
    play_learner(config, start, transport);
  } else if (layout.has(job.rank(), Role::kRewardWorker)) {
    MpiSource<RolloutGroup> rollouts(job, Tag::kRollouts, static_cast<int>(layout.actors.size()));
    ScoringSource scored(rollouts, scoring_options(config),
                         {.rank = job.rank(), .attend = [&job] { job.attend(); }},
                         text_decoder(start));
    learn_and_coordinate(job, config, start, layout, transport, scored);
    scored.finish();
  } else {
    MpiSource<ScoredGroup> scored(job, Tag::kScored,
                                  static_cast<int>(layout.reward_workers.size()));
    learn_and_coordinate(job, config, start, layout, transport, scored);
  }
}

}  // namespace

void run_over_mpi(Job& job, const TrainConfig& config, const RunStart& start,
                  const RoleLayout& layout) {
  job.set_role(layout.roles_of(job.rank()));
  job.set_activity("training");
  if (layout.has(job.rank(), Role::kLearner)) {
    learn(job, config, start, layout);
  } else if (layout.has(job.rank(), Role::kActor)) {
    act(job, config, start, layout);
  } else {
    score(job, config, start, layout);
  }
}

}  // namespace lie
