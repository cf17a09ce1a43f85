#include "tools/plan/costs.h"

#include <algorithm>
#include <cmath>

#include "common/base/error.h"

namespace lie::planning {
namespace {

constexpr double RankCosts::*kSeconds[] = {
    &RankCosts::prompt_token_seconds, &RankCosts::repack_seconds, &RankCosts::trained_token_seconds,
    &RankCosts::optimizer_seconds};

/// Returns whether there are items, and their `key` is at least 1 and ascends.
template <typename Item>
bool ascends(const std::vector<Item>& items, std::int64_t Item::*key) {
  const auto falls = [&](const Item& a, const Item& b) { return a.*key >= b.*key; };
  return !items.empty() && items.front().*key >= 1 &&
         std::ranges::adjacent_find(items, falls) == items.end();
}

/// Returns what is wrong with costs; empty if they can be used.
std::string fault_of(const Costs& costs) {
  if (!ascends(costs.ranks, &RankCosts::threads)) return "the threads of ranks are to ascend";
  bool is_positive = costs.bytes_per_second > 0;
  for (const RankCosts& rank : costs.ranks) {
    if (!ascends(rank.passes, &PassCost::rows)) return "the rows of passes are to ascend";
    for (const PassCost& pass : rank.passes) is_positive = is_positive && pass.seconds > 0;
    for (const auto member : kSeconds) is_positive = is_positive && rank.*member >= 0;
  }
  is_positive = is_positive && costs.scored_response_seconds >= 0 && costs.step_seconds >= 0;
  return is_positive ? "" : "a cost is negative, or a pass or the bandwidth is 0";
}

double between(double from, double to, double share) { return from + share * (to - from); }

/// Interpolates geometrically; 0 stays 0.
double between_geometrically(double from, double to, double share) {
  return from > 0 && to > 0 ? from * std::pow(to / from, share) : between(from, to, share);
}

RankCosts between(const RankCosts& from, const RankCosts& to, std::int64_t threads) {
  const double share =
      std::log(static_cast<double>(threads) / static_cast<double>(from.threads)) /
      std::log(static_cast<double>(to.threads) / static_cast<double>(from.threads));
  RankCosts costs{.threads = threads, .passes = from.passes};
  for (PassCost& pass : costs.passes) {
    pass.seconds = between_geometrically(pass.seconds, to.pass_seconds(pass.rows), share);
  }
  for (const auto member : kSeconds) {
    costs.*member = between_geometrically(from.*member, to.*member, share);
  }
  return costs;
}

}  // namespace

double RankCosts::pass_seconds(std::int64_t rows) const {
  if (rows <= passes.front().rows || passes.size() == 1) return passes.front().seconds;
  auto next = std::ranges::lower_bound(passes, rows, {}, &PassCost::rows);
  if (next == passes.end()) --next;
  const PassCost &low = *(next - 1), &high = *next;
  const double share =
      static_cast<double>(rows - low.rows) / static_cast<double>(high.rows - low.rows);
  return std::max(between(low.seconds, high.seconds, share), 0.0);
}

RankCosts Costs::with_threads(std::int64_t threads) const {
  const auto next = std::ranges::lower_bound(ranks, threads, {}, &RankCosts::threads);
  if (next == ranks.end()) return ranks.back();
  if (next == ranks.begin() || next->threads == threads) return *next;
  return between(*(next - 1), *next, threads);
}

Costs read_costs(const std::filesystem::path& path) {
  const Json file = read_json(path);
  Costs costs;
  std::string fault;
  try {
    costs = file.contains("costs") ? file["costs"].get<Costs>() : file.get<Costs>();
    fault = fault_of(costs);
  } catch (const Json::exception& error) {
    fault = error.what();
  }
  if (!fault.empty()) {
    fail("{}: costs: {}; lie_cluster plan --json writes such a file", path.string(), fault);
  }
  costs.origin = "given by " + path.string();
  return costs;
}

}  // namespace lie::planning
