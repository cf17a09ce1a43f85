#include "tools/plan/plan_text.h"

#include <fmt/format.h>

namespace lie::planning {
namespace {

/// "-" where no rank does nothing but score.
std::string reward_workers_of(const RoleLayout& layout) {
  const bool is_learner = layout.reward_workers.front() == layout.learners.front();
  return is_learner ? "-" : std::to_string(layout.reward_workers.size());
}

/// Three digits, or more for whole numbers.
std::string seconds_text(double seconds) {
  return fmt::format("{:.{}f}", seconds, seconds < 10 ? 2 : seconds < 100 ? 1 : 0);
}

std::string row_of(const Forecast& forecast) {
  const auto& [layout, time, is_configured] = forecast;
  return fmt::format("\n{:>5} {:>6} {:>6} {:>8} {:>9} {:>9.0f} {:>5.0f} {:>6.0f} {:>7.0f}  {}",
                     layout.places.size(), layout.actors.size(), reward_workers_of(layout),
                     layout.learners.size(), seconds_text(time.step), time.tokens_per_second,
                     100 * time.idle_actor, 100 * time.idle_reward_worker, 100 * time.idle_learner,
                     is_configured ? "roles.*" : "automatic");
}

std::string table_of(const std::vector<RanksPlan>& plans) {
  std::string text =
      "\n\n                                                  idle, %\n"
      "ranks actors reward learners    step s  tokens/s actor reward learner  layout";
  for (const RanksPlan& plan : plans) {
    for (const Forecast& forecast : plan.forecasts) text += row_of(forecast);
  }
  return text + "\n";
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

Json json_of(const Forecast& forecast) {
  const auto& [layout, time, is_configured] = forecast;
  return {{"actors", layout.actors.size()},
          {"reward_workers", layout.reward_workers.size()},
          {"learners", layout.learners.size()},
          {"is_configured", is_configured},
          {"step_seconds", time.step},
          {"tokens_per_second", time.tokens_per_second},
          {"generate_seconds", time.generate},
          {"update_seconds", time.update},
          {"publish_seconds", time.publish},
          {"idle_share_actor", time.idle_actor},
          {"idle_share_reward_worker", time.idle_reward_worker},
          {"idle_share_learner", time.idle_learner}};
}

}  // namespace

std::string text_of(const Plan& plan) {
  return run_summary_text("plan of " + plan.config, plan.entries) + table_of(plan.ranks);
}

Json json_of(const Plan& plan) {
  Json summary = Json::object(), ranks = Json::array();
  for (const SummaryEntry& entry : plan.entries) summary[entry.name] = entry.value;
  for (const RanksPlan& of : plan.ranks) {
    Json layouts = Json::array();
    for (const Forecast& forecast : of.forecasts) layouts.push_back(json_of(forecast));
    ranks.push_back({{"ranks", of.ranks}, {"memory", json_of(of.memory)}, {"layouts", layouts}});
  }
  return {{"config", plan.config}, {"summary", summary}, {"costs", plan.costs}, {"ranks", ranks}};
}

}  // namespace lie::planning
