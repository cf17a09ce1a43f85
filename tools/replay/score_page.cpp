#include "tools/replay/score_page.h"

#include <string_view>
#include <vector>

#include "tools/analyze/report/chart.h"
#include "tools/analyze/report/html.h"
#include "tools/analyze/report/page.h"

namespace lie::replay {
namespace {

using analyze::Chart, analyze::PageSection, analyze::Series;

constexpr const char* kSides[] = {"logged", "now"};

/// Returns the values of a quantity as logged or as scored now, in the steps that have it.
Series series_of(const Json& rows, int side, const std::string& quantity) {
  Series series{.name = kSides[side], .colour = side, .points = {}, .run = side};
  for (const Json& row : rows) {
    const Json& values = row.at(kSides[side]);
    if (!values.contains(quantity)) continue;
    const double y = values.at(quantity);
    series.points.push_back({row.at("step").get<double>(), y, y, y});
  }
  return series;
}

std::string compared(const Json& rows, const std::string& quantity) {
  Chart chart{.title = quantity,
              .note = "",
              .series = {series_of(rows, 0, quantity), series_of(rows, 1, quantity)}};
  return analyze::render(chart);
}

std::string turned_groups(const Json& rows) {
  Series series{.name = kSides[1], .colour = 1, .points = {}, .run = 1};
  for (const Json& row : rows) {
    if (row.at("groups") == 0) continue;  // the step only evaluates
    const double y = row.at("turned_groups_share");
    series.points.push_back({row.at("step").get<double>(), y, y, y});
  }
  return analyze::render({.title = "turned_groups_share",
                          .note = "groups in which two responses change their order by advantage",
                          .series = {series}});
}

/// Returns the charts of the quantities whose names start with `beginning`.
std::string charts_of(const Json& rows, std::span<const std::string> names,
                      std::string_view beginning) {
  std::string html;
  for (const std::string& name : names) {
    if (name.starts_with(beginning)) html += compared(rows, name);
  }
  return html;
}

}  // namespace

std::string score_page(const std::string& title, const std::string& words,
                       std::span<const StepScores> steps, const BothRewards& rewards) {
  const Json rows = score_json(steps, rewards);
  const std::vector<std::string> names = quantity_names(steps, rewards);
  const std::vector<PageSection> sections = {
      {"accuracy", "Accuracy", "",
       charts_of(rows, names, "accuracy") + charts_of(rows, names, "eval_accuracy")},
      {"rewards", "Rewards", "Means over training responses.", charts_of(rows, names, "reward_")},
      {"groups", "Groups", "Shares of the step's groups by verdict.",
       charts_of(rows, names, "groups_") + turned_groups(rows)},
      {"advantages", "Advantages", "Each term's share in the sum of absolute advantages.",
       charts_of(rows, names, "advantage_mass_")}};
  const std::vector<std::string> runs = {kSides[0], kSides[1]};
  return analyze::page(title, analyze::escaped(words), runs, sections);
}

}  // namespace lie::replay
