#include "tools/plan/simulator.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <span>
#include <utility>

#include "common/base/error.h"
#include "learner/schedule/first_groups.h"
#include "tools/plan/planned_desk.h"
#include "tools/plan/players.h"
#include "tools/plan/update_tokens.h"
#include "tools/plan/work_clock.h"

namespace lie::planning {
namespace {

struct Actor {
  PlannedGenerator generator;
  bool asks = false;            // a request is open
  bool is_told = false;         // new weights follow
  bool awaits_weights = false;  // takes them in after this pass
  bool takes_weights = false;   // its work is to take them in
};

/// A group that a step drew.
struct Group {
  GroupLengths lengths;
  std::int64_t version = -1;  // of the weights that it begins with; -1: it has not begun
  bool is_finished = false, is_taken = false;
};

enum class Doing { kCollect, kUpdate, kAnnounce, kPublish, kLog };

/// Busy seconds of a role and learner 0's seconds by what it does, up to a moment.
struct Spent {
  double time = 0, actors = 0, reward_workers = 0, cores = 0;
  std::map<Doing, double> learner = {};
};

class Simulation {
 public:
  Simulation(const Workload& workload, const Costs& costs, const Lengths& lengths,
             const Cluster& cluster)
      : workload_(workload),
        costs_(costs),
        lengths_(lengths),
        shares_weights_(cluster.shares_weights),
        players_(cluster, costs),
        clock_(players_.all(), cluster.cores),
        ticket_queue_(static_cast<std::size_t>(players_.count(Role::kActor)),
                      !workload.in_flight_weights) {
    to_score_.resize(static_cast<std::size_t>(players_.count(Role::kRewardWorker)));
    for (int a = 0; a < players_.count(Role::kActor); ++a) {
      actors_.push_back({PlannedGenerator(workload.generator, players_.costs(a))});
    }
  }

  Forecast run(std::int64_t steps) {
    const std::int64_t warm_up = 1 + workload_.max_staleness;
    Spent begin;
    order_steps();
    for (int a = 0; a < players_.count(Role::kActor); ++a) ask(a);
    while (std::ssize(forecast_.steps) < warm_up + steps) {
      if (std::ssize(forecast_.steps) == warm_up && begin.time == 0) begin = spent();
      serve();
      const int player = clock_.next();
      if (player < 0) fail("plan: the simulated run stands still: a defect, please report it");
      end_of_work(player);
    }
    sum_up(begin, steps, warm_up);
    return std::move(forecast_);
  }

 private:
  // Tickets and actors.

  void order_steps() {
    const bool any = workload_.max_staleness > 0;
    const std::int64_t ahead =
        workload_.takes_first_groups ? kStepsDrawnAhead : workload_.max_staleness;
    for (; ordered_ < step_ + ahead; ++ordered_) {
      const std::int64_t step = ordered_ + 1;
      std::deque<Ticket> tickets;
      std::vector<Group>& groups = drawn_[step];
      for (std::int64_t g = 0; g < workload_.prompts_per_step; ++g) {
        groups.push_back({lengths_.group(step, g, workload_.samples_per_prompt)});
        tickets.push_back({.step = step,
                           .group = g,
                           .policy_version = any ? Ticket::kAnyVersion : step - 1,
                           .samples = static_cast<std::int32_t>(workload_.samples_per_prompt),
                           .prompt = {}});
      }
      ticket_queue_.add(std::move(tickets));
    }
  }

  Group& group_of(const DrawnGroup& drawn) {
    return drawn_.at(drawn.step)[static_cast<std::size_t>(drawn.group)];
  }

  Actor& actor(int a) { return actors_[static_cast<std::size_t>(a)]; }

  /// As Actor::pull_tickets() asks: with room, once.
  void ask(int a) {
    Actor& self = actor(a);
    if (self.asks || self.is_told || self.generator.room() == 0) return;
    self.asks = true;
    ticket_queue_.ask(a, {.room = self.generator.room(), .spare = workload_.generator.slots / 2});
  }

  void take(int a, std::vector<Ticket> tickets) {
    Actor& self = actor(a);
    const bool was_idle = self.generator.idle();
    for (Ticket& ticket : tickets) {
      Group& group = group_of(drawn_as(ticket));
      group.version = ticket.policy_version;
      self.generator.add(std::move(ticket), group.lengths);
    }
    if (self.takes_weights) return;
    if (was_idle) {
      begin_stretch(a);
    } else {
      clock_.set_length(a, self.generator.cut(clock_.done(a)));
    }
    ask(a);
  }

  void begin_stretch(int a) {
    PlannedGenerator& generator = actor(a).generator;
    const double seconds = generator.begin();
    clock_.begin(a, seconds, generator.computing());
  }

  void end_of_stretch(int a) {
    Actor& self = actor(a);
    for (Ticket& ticket : self.generator.end()) send(std::move(ticket));
    if (self.awaits_weights) return take_in_weights(a);
    if (!self.generator.idle()) begin_stretch(a);
    ask(a);
  }

  /// At once or, where weights change in flight, when the pass in progress is over.
  void bring_weights(int a) {
    if (!clock_.is_busy(a)) return take_in_weights(a);
    actor(a).awaits_weights = true;
    clock_.set_length(a, actor(a).generator.cut(clock_.done(a)));
  }

  void take_in_weights(int a) {
    actor(a).awaits_weights = false;
    actor(a).takes_weights = true;
    clock_.begin(a, players_.costs(a).repack);
  }

  // Reward workers.

  void send(Ticket ticket) {
    const auto samples = ended_.try_emplace({ticket.step, ticket.group}).first;
    samples->second += ticket.asked().count;
    if (samples->second < ticket.samples) return;
    ended_.erase(samples);
    ticket.part = {};
    const auto worker = static_cast<std::size_t>(ticket.group) % to_score_.size();
    to_score_[worker].push_back(std::move(ticket));
    score_next(worker);
  }

  void score_next(std::size_t worker) {
    const int player = players_.first(Role::kRewardWorker) + static_cast<int>(worker);
    if (to_score_[worker].empty() || clock_.is_busy(player)) return;
    if (players_.learner_scores() && !serves()) return;
    clock_.begin(player, costs_.scored_response * to_score_[worker].front().samples);
  }

  void end_of_score(std::size_t worker) {
    arrived_.push_back(std::move(to_score_[worker].front()));
    to_score_[worker].pop_front();
    score_next(worker);
  }

  // Learner 0.

  bool serves() const { return doing_ == Doing::kCollect || doing_ == Doing::kAnnounce; }
  /// In an update, too, where actors run ahead: between micro-batches, here at once.
  bool polls_progress() const {
    return serves() || (doing_ == Doing::kUpdate && workload_.max_staleness > 0);
  }

  void go_on_to(Doing doing) {
    learner_seconds_[doing_] += clock_.now() - doing_since_;
    doing_since_ = clock_.now();
    doing_ = doing;
    if (players_.learner_scores()) score_next(0);
  }

  /// All that happens before time must pass.
  void serve() {
    while (polls_progress()) {
      for (const Ticket& group : std::exchange(arrived_, {})) {
        ticket_queue_.take_back(group);
        group_of(drawn_as(group)).is_finished = true;
        ++finished_;
      }
      if (doing_ == Doing::kCollect && is_complete()) {
        begin_update();
        continue;
      }
      const bool tells = doing_ == Doing::kAnnounce || workload_.max_staleness == 0;
      std::vector<TicketQueueAnswer> answers = ticket_queue_.answers(tells);
      for (TicketQueueAnswer& answer : answers) give(std::move(answer));
      if (doing_ == Doing::kAnnounce && ticket_queue_.is_announced()) return publish();
      if (answers.empty()) return;
    }
  }

  void give(TicketQueueAnswer answer) {
    actor(answer.actor).asks = false;
    if (answer.tickets.empty()) {
      actor(answer.actor).is_told = true;
    } else {
      take(answer.actor, std::move(answer.tickets));
    }
  }

  std::vector<OpenGroup> open_groups() const {
    std::vector<OpenGroup> open;
    for (const auto& [step, groups] : drawn_) {
      for (std::size_t g = 0; g < groups.size(); ++g) {
        const Group& group = groups[g];
        if (group.is_taken) continue;
        const std::int64_t version = group.version >= 0 ? group.version : step_ - 1;
        open.push_back({{step, static_cast<std::int64_t>(g)}, version, group.is_finished});
      }
    }
    return open;
  }

  /// Whether the step has its groups; then it takes them.
  bool is_complete() {
    if (finished_ < workload_.prompts_per_step) return false;
    if (workload_.takes_first_groups) {
      taken_ =
          first_groups(open_groups(), step_, workload_.prompts_per_step, workload_.max_staleness);
    } else if (ticket_queue_.is_back(step_)) {
      for (std::int64_t g = 0; g < workload_.prompts_per_step; ++g) taken_.push_back({step_, g});
    }
    for (const DrawnGroup& drawn : taken_) group_of(drawn).is_taken = true;
    finished_ -= std::ssize(taken_);
    return !taken_.empty();
  }

  void begin_update() {
    go_on_to(Doing::kUpdate);
    std::vector<GroupLengths> groups;
    for (const DrawnGroup& drawn : taken_) groups.push_back(group_of(drawn).lengths);
    updates_ = update_tokens(groups, workload_, players_.count(Role::kLearner));
    update_ = 0;
    begin_mini_batch();
  }

  void begin_mini_batch() {
    if (update_ == updates_.size()) {
      go_on_to(Doing::kAnnounce);
      if (workload_.in_flight_weights) return publish();
      return ticket_queue_.announce();
    }
    const int first = players_.first(Role::kLearner), learners = players_.count(Role::kLearner);
    learners_at_work_ = learners;
    for (int l = 0; l < learners; ++l) {
      const RankCosts& costs = players_.costs(first + l);
      const auto tokens = static_cast<double>(updates_[update_][static_cast<std::size_t>(l)]);
      clock_.begin(first + l, costs.trained_token * tokens + costs.optimizer / learners);
    }
  }

  /// The sums of gradient shards meet along a tree; then each learner's shard of the weights
  /// reaches all.
  double exchange_seconds() const {
    const int learners = players_.count(Role::kLearner);
    const double levels = std::ceil(std::log2(learners));
    return (levels + 1) * workload_.gradient_bytes / costs_.bytes_per_second;
  }

  void end_of_learner() {
    if (doing_ == Doing::kLog) return end_step();
    if (--learners_at_work_ > 0) return;
    if (players_.count(Role::kLearner) > 1) {
      clock_.begin(players_.network(), exchange_seconds());
    } else {
      end_of_network();
    }
  }

  void end_of_network() {
    if (doing_ == Doing::kUpdate) {
      ++update_;
      return begin_mini_batch();
    }
    ticket_queue_.set_version(step_);
    for (const int a : players_.receivers()) bring_weights(a);
    go_on_to(Doing::kLog);
    clock_.begin(players_.first(Role::kLearner), costs_.step);
  }

  /// In pieces along a tree.
  double broadcast_seconds() const {
    const auto branches = std::min<std::size_t>(players_.receivers().size(), 2);
    return static_cast<double>(branches) * workload_.weights_bytes / costs_.bytes_per_second;
  }

  void publish() {
    go_on_to(Doing::kPublish);
    clock_.begin(players_.network(), broadcast_seconds());
  }

  void have_weights(int a) {
    const int host = players_.host(a);
    actor(a).takes_weights = false;
    do {
      actor(a).is_told = false;
      if (!clock_.is_busy(a) && !actor(a).generator.idle()) begin_stretch(a);
      ask(a++);
    } while (shares_weights_ && a < static_cast<int>(actors_.size()) && players_.host(a) == host);
  }

  void end_step() {
    SimulatedStep step{.seconds = clock_.now() - step_begun_};
    double stale = 0;
    for (const DrawnGroup& drawn : std::exchange(taken_, {})) {
      const Group& group = group_of(drawn);
      const std::int64_t staleness = step_ - 1 - group.version;
      step.staleness_max = std::max(step.staleness_max, staleness);
      for (const std::int64_t length : group.lengths.responses) {
        step.tokens += length;
        stale += static_cast<double>(staleness * length);
      }
    }
    step.staleness_mean = stale / static_cast<double>(step.tokens);
    forecast_.steps.push_back(step);
    step_begun_ = clock_.now();
    std::erase_if(drawn_, [](const auto& drawn) {
      return std::ranges::all_of(drawn.second, &Group::is_taken);
    });
    ++step_;
    go_on_to(Doing::kCollect);
    order_steps();
  }

  // All.

  void end_of_work(int player) {
    const int worker = players_.first(Role::kRewardWorker),
              learner = players_.first(Role::kLearner);
    if (player == players_.network()) return end_of_network();
    if (player >= learner) return end_of_learner();
    if (player >= worker) return end_of_score(static_cast<std::size_t>(player - worker));
    actor(player).takes_weights ? have_weights(player) : end_of_stretch(player);
  }

  double busy(Role role) const {
    double sum = 0;
    for (int i = 0; i < players_.count(role); ++i) {
      sum += clock_.busy_seconds(players_.first(role) + i);
    }
    return sum;
  }

  Spent spent() const {
    return {clock_.now(), busy(Role::kActor), busy(Role::kRewardWorker), clock_.core_seconds(),
            learner_seconds_};
  }

  void sum_up_times(const Spent& begin, double count) {
    Spent end = spent();
    const double all = end.time - begin.time;
    const auto learner = [&](Doing doing) {
      const auto before = begin.learner.find(doing);
      return (end.learner[doing] - (before == begin.learner.end() ? 0 : before->second)) / count;
    };
    const auto idle = [&](double busy, Role role) {
      return 1 - busy / (all * players_.count(role));
    };
    forecast_.step_seconds = all / count;
    forecast_.core_seconds = (end.cores - begin.cores) / count;
    forecast_.generate_seconds = learner(Doing::kCollect);
    forecast_.update_seconds = learner(Doing::kUpdate);
    forecast_.publish_seconds = learner(Doing::kAnnounce) + learner(Doing::kPublish);
    forecast_.idle_actor = idle(end.actors - begin.actors, Role::kActor);
    forecast_.idle_reward_worker =
        idle(end.reward_workers - begin.reward_workers, Role::kRewardWorker);
    forecast_.idle_learner =
        (forecast_.generate_seconds + forecast_.publish_seconds) / forecast_.step_seconds;
  }

  void sum_up(const Spent& begin, std::int64_t steps, std::int64_t warm_up) {
    sum_up_times(begin, static_cast<double>(steps));
    const auto counted = std::span(forecast_.steps).subspan(static_cast<std::size_t>(warm_up));
    double tokens = 0;
    for (const SimulatedStep& step : counted) tokens += static_cast<double>(step.tokens);
    for (const SimulatedStep& step : counted) {
      forecast_.staleness_mean += step.staleness_mean * static_cast<double>(step.tokens) / tokens;
      forecast_.staleness_max = std::max(forecast_.staleness_max, step.staleness_max);
    }
    forecast_.tokens_per_second = tokens / (forecast_.step_seconds * static_cast<double>(steps));
    for (const Actor& actor : actors_) forecast_.tokens_generated += actor.generator.tokens();
  }

  const Workload& workload_;
  const Costs& costs_;
  const Lengths& lengths_;
  const bool shares_weights_;
  Players players_;
  WorkClock clock_;
  PlannedDesk ticket_queue_;
  std::vector<Actor> actors_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> ended_;  // samples, by group
  std::vector<std::deque<Ticket>> to_score_;          // by reward worker, with what it is scoring
  std::vector<Ticket> arrived_;                       // groups that learner 0 has not yet looked at
  std::map<std::int64_t, std::vector<Group>> drawn_;  // by step
  std::int64_t finished_ = 0;                         // of them, and not taken
  std::vector<DrawnGroup> taken_;                     // by the step, from its update on
  std::int64_t step_ = 1;                             // that is collected, or further on
  std::int64_t ordered_ = 0;
  Doing doing_ = Doing::kCollect;
  double doing_since_ = 0, step_begun_ = 0;
  std::map<Doing, double> learner_seconds_;
  std::vector<std::vector<std::int64_t>> updates_;  // tokens by learner
  std::size_t update_ = 0;
  int learners_at_work_ = 0;
  Forecast forecast_;
};

}  // namespace

Forecast simulate(const Workload& workload, const Costs& costs, const Lengths& lengths,
                  const Cluster& cluster, std::int64_t steps) {
  return Simulation(workload, costs, lengths, cluster).run(steps);
}

}  // namespace lie::planning
