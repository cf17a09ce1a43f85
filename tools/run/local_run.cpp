#include "tools/run/local_run.h"

#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "common/comm/thread_collective.h"
#include "common/queue.h"
#include "tools/run/players.h"

namespace lie {
namespace {

constexpr std::size_t kGroupsAhead = 64;

/// The queues between three role threads. The first failure ends all of them.
class LocalTransport {
 public:
  BoundedQueue<RolloutGroup> rollouts{kGroupsAhead};
  BoundedQueue<ScoredGroup> scored{kGroupsAhead};
  LocalTicketDesk desk{1};
  ThreadGroup weight_group{2};  // learner, actor

  /// Runs a role; if it throws, every other role's waiting ends with the same cause.
  void guard(const std::function<void()>& role) {
    try {
      role();
    } catch (...) {
      fail_all(std::current_exception());
    }
  }

  void rethrow_failure() {
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void fail_all(std::exception_ptr cause) {
    const std::lock_guard lock(mutex_);
    if (failure_) return;
    failure_ = cause;
    rollouts.poison(cause);
    scored.poison(cause);
    desk.poison(cause);
    weight_group.poison(cause);
  }

  std::mutex mutex_;
  std::exception_ptr failure_;
};

void learn(LocalTransport& transport, const TrainConfig& config, const RunStart& start,
           int threads) {
  const auto learners = solo_collective();
  const auto weight_group = transport.weight_group.member(0);
  play_learner_0(config, start, {*learners, threads},
                 {transport.desk, 1, transport.scored, *weight_group});
}

void act(LocalTransport& transport, const TrainConfig& config, const RunStart& start, int threads) {
  const auto assignments = transport.desk.client(0);
  const auto weight_group = transport.weight_group.member(1);
  play_actor(config, start, {*assignments, transport.rollouts, *weight_group, 0, threads});
}

}  // namespace

void run_in_one_process(Job& job, const TrainConfig& config, const RunStart& start,
                        const RoleLayout& layout) {
  job.set_role(layout.roles_of(0));
  job.set_activity("training");
  LocalTransport transport;
  {
    const std::jthread actor([&] {
      transport.guard([&] { act(transport, config, start, layout.threads(0, Role::kActor)); });
    });
    const std::jthread reward_worker([&] {
      transport.guard([&] {
        play_reward_worker(config, start, {transport.rollouts, transport.scored, 0, [&] {
                                             transport.rethrow_failure();
                                           }});
      });
    });
    transport.guard([&] { learn(transport, config, start, layout.threads(0, Role::kLearner)); });
  }
  transport.rethrow_failure();
}

}  // namespace lie
