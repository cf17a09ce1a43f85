#include "tools/plan/plan_text.h"

#include <fmt/format.h>

namespace lie::planning {
namespace {

constexpr std::size_t kMostRows = 8;  // of one number of ranks

std::string mark_of(const Split& split, bool is_best) {
  return fmt::format("{}{}{}", is_best ? "b" : "", split.is_automatic ? "a" : "",
                     split.is_configured ? "s" : "");
}

/// Where a learner scores, or one rank does all, no rank does nothing else.
std::string reward_workers_of(const Split& split) {
  return split.layout.reward_workers == split.layout.learners ||
                 split.layout.reward_workers.front() == split.layout.learners.front()
             ? "-"
             : std::to_string(split.layout.reward_workers.size());
}

/// Three digits, or more where they are whole.
std::string seconds_text(double seconds) {
  return fmt::format("{:.{}f}", seconds, seconds < 10 ? 2 : seconds < 100 ? 1 : 0);
}

std::string row_of(const Split& split, bool is_best) {
  const Forecast& f = split.forecast;
  return fmt::format(
      "{:>5} {:>6} {:>6} {:>8} {:>9} {:>9.0f} {:>5.0f} {:>6.0f} {:>7.0f} {:>5.2f}  {}",
      split.layout.places.size(), split.layout.actors.size(), reward_workers_of(split),
      split.layout.learners.size(), seconds_text(f.step_seconds), f.tokens_per_second,
      100 * f.idle_actor, 100 * f.idle_reward_worker, 100 * f.idle_learner, f.staleness_mean,
      mark_of(split, is_best));
}

std::string table_of(const std::vector<RanksPlan>& plans) {
  std::string text =
      "\n\n                                                  idle, %\n"
      "ranks actors reward learners    step s  tokens/s actor reward learner stale";
  for (const RanksPlan& plan : plans) {
    for (std::size_t i = 0; i < plan.splits.size(); ++i) {
      const Split& split = plan.splits[i];
      const bool is_asked_for = i == 0 || split.is_automatic || split.is_configured;
      if (is_asked_for || (plans.size() == 1 && i < kMostRows)) {
        text += "\n" + row_of(split, i == 0);
      }
    }
  }
  return text + "\nb: the fastest, a: what train chooses, s: what the config sets\n";
}

Json json_of(const std::vector<RoleMemory>& memory) {
  Json json = Json::object();
  for (const auto& [role, plan] : memory) {
    Json& parts = json[role]["bytes"] = Json::object();
    for (const MemoryPart& part : plan.parts) parts[part.what] = part.bytes;
    json[role]["all_bytes"] = plan.bytes();
  }
  return json;
}

Json json_of(const Split& split) {
  const Forecast& f = split.forecast;
  return {{"actors", split.roles.actors},
          {"reward_workers", split.roles.reward_workers},
          {"learners", split.roles.learners},
          {"is_automatic", split.is_automatic},
          {"is_configured", split.is_configured},
          {"step_seconds", f.step_seconds},
          {"tokens_per_second", f.tokens_per_second},
          {"generate_seconds", f.generate_seconds},
          {"update_seconds", f.update_seconds},
          {"publish_seconds", f.publish_seconds},
          {"core_seconds", f.core_seconds},
          {"idle_share_actor", f.idle_actor},
          {"idle_share_reward_worker", f.idle_reward_worker},
          {"idle_share_learner", f.idle_learner},
          {"staleness_mean", f.staleness_mean},
          {"staleness_max", f.staleness_max}};
}

}  // namespace

std::string text_of(const Plan& plan) {
  return run_summary_text("plan of " + plan.config, plan.facts) + table_of(plan.ranks);
}

Json json_of(const Plan& plan) {
  Json facts = Json::object(), ranks = Json::array();
  for (const Fact& fact : plan.facts) facts[fact.name] = fact.value;
  for (const RanksPlan& of : plan.ranks) {
    Json splits = Json::array();
    for (const Split& split : of.splits) splits.push_back(json_of(split));
    ranks.push_back({{"ranks", of.ranks}, {"memory", json_of(of.memory)}, {"splits", splits}});
  }
  return {
      {"config", plan.config}, {"facts", facts}, {"costs", json_of(plan.costs)}, {"ranks", ranks}};
}

}  // namespace lie::planning
