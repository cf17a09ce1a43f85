#include "tools/plan/costs.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/base/error.h"

namespace lie::planning {
namespace {

constexpr std::pair<const char*, double RankCosts::*> kOfRank[] = {
    {"prompt_token_seconds", &RankCosts::prompt_token},
    {"repack_seconds", &RankCosts::repack},
    {"trained_token_seconds", &RankCosts::trained_token},
    {"optimizer_seconds", &RankCosts::optimizer}};
constexpr std::pair<const char*, double Costs::*> kOfAll[] = {
    {"scored_response_seconds", &Costs::scored_response},
    {"step_seconds", &Costs::step},
    {"bytes_per_second", &Costs::bytes_per_second}};

/// Reads a file of costs. Errors name the place in the file.
class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  double number(const Json& at, const char* key, double least) const {
    const auto value = at.find(key);
    if (value == at.end() || !value->is_number() || !(value->get<double>() >= least)) {
      fail(
          "{}: costs: {} is to be a number of at least {}; lie_cluster plan --json writes such a "
          "file",
          file_, key, least);
    }
    return value->get<double>();
  }

  const Json& list(const Json& at, const char* key) const {
    const auto value = at.find(key);
    if (value == at.end() || !value->is_array() || value->empty()) {
      fail(
          "{}: costs: {} is to be a list that is not empty; lie_cluster plan --json writes such a "
          "file",
          file_, key);
    }
    return *value;
  }

  RankCosts rank(const Json& at) const {
    RankCosts costs{.threads = count(at, "threads"), .passes = {}};
    for (const Json& pass : list(at, "passes")) {
      costs.passes.push_back({count(pass, "rows"), number(pass, "seconds", 1e-12)});
    }
    check_order(costs.passes, &PassCost::rows, "rows of passes");
    for (const auto& [key, member] : kOfRank) costs.*member = number(at, key, 0);
    return costs;
  }

  template <typename T>
  void check_order(const std::vector<T>& items, std::int64_t T::*key, const char* name) const {
    const auto falls = [&](const T& a, const T& b) { return a.*key >= b.*key; };
    if (std::ranges::adjacent_find(items, falls) == items.end()) return;
    fail("{}: costs: {} are to ascend", file_, name);
  }

 private:
  std::int64_t count(const Json& at, const char* key) const {
    return static_cast<std::int64_t>(std::min(number(at, key, 1), 1e9));
  }

  std::string file_;
};

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
  for (const auto& [key, member] : kOfRank) {
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
  const Reader reader(path.string());
  const auto found = file.is_object() ? file.find("costs") : file.end();
  const Json& from = found != file.end() ? *found : file;
  if (!from.is_object()) fail("{}: costs are to be an object", path.string());
  Costs costs;
  for (const Json& rank : reader.list(from, "ranks")) costs.ranks.push_back(reader.rank(rank));
  reader.check_order(costs.ranks, &RankCosts::threads, "threads of ranks");
  for (const auto& [key, member] : kOfAll) costs.*member = reader.number(from, key, 0);
  if (costs.bytes_per_second == 0) fail("{}: costs: bytes_per_second is 0", path.string());
  costs.origin = "given by " + path.string();
  return costs;
}

Json json_of(const Costs& costs) {
  Json ranks = Json::array();
  for (const RankCosts& rank : costs.ranks) {
    Json passes = Json::array();
    for (const PassCost& pass : rank.passes) {
      passes.push_back({{"rows", pass.rows}, {"seconds", pass.seconds}});
    }
    Json of_rank = {{"threads", rank.threads}, {"passes", passes}};
    for (const auto& [key, member] : kOfRank) of_rank[key] = rank.*member;
    ranks.push_back(std::move(of_rank));
  }
  Json json = {{"origin", costs.origin}, {"ranks", ranks}};
  for (const auto& [key, member] : kOfAll) json[key] = costs.*member;
  return json;
}

}  // namespace lie::planning
