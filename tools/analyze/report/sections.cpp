#include "tools/analyze/report/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "learner/record/evaluation_metrics.h"
#include "tools/analyze/coverage_metrics.h"
#include "tools/analyze/curves.h"
#include "tools/analyze/derived_curves.h"
#include "tools/analyze/report/chart.h"
#include "tools/analyze/table.h"
#include "tools/analyze/trap.h"

namespace lie::analyze {
namespace {

std::vector<Point> points_of(const Subject& subject, std::string_view metric) {
  std::vector<Point> points;
  for (const CurvePoint& p : subject_curve(subject, std::string(metric))) {
    points.push_back({static_cast<double>(p.step), p.value.value, p.value.low, p.value.high});
  }
  return points;
}

/// Description of one quantity's chart.
struct Quantity {
  std::string_view metric, title;
  std::string_view note = "";
  bool from_zero = false, log_y = false;
};

bool has_other_than_zero(const std::vector<Series>& all) {
  for (const Series& series : all) {
    for (const Point& p : series.points) {
      if (p.y != 0) return true;
    }
  }
  return false;
}

/// Returns the chart of one quantity with a line per subject; empty if it is `optional` and zero
/// throughout.
std::string compared(std::span<const Subject> subjects, const Quantity& quantity,
                     bool optional = false) {
  Chart chart{.title = std::string(quantity.title),
              .note = std::string(quantity.note),
              .series = {},
              .log_y = quantity.log_y,
              .is_share = is_share(quantity.metric)};
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    chart.series.push_back({subjects[i].name, static_cast<int>(i), false,
                            points_of(subjects[i], quantity.metric), static_cast<int>(i)});
  }
  if (quantity.from_zero) chart.y_low = 0;
  if (optional && !has_other_than_zero(chart.series)) return "";
  return render(chart);
}

std::string compared_all(std::span<const Subject> subjects, std::span<const Quantity> quantities) {
  std::string html;
  for (const Quantity& quantity : quantities) html += compared(subjects, quantity);
  return html;
}

/// One quantity of a composed chart. Colors 0 and 1 denote the first two runs elsewhere.
struct Part {
  std::string_view metric, name;
  int colour;
};
enum Colour : int { kGreen = 2, kPurple = 3, kRose = 4, kGold = 5, kTeal = 6, kGrey = 7 };

/// Returns one chart of related quantities per subject. Quantities that are zero throughout are
/// omitted.
std::string composed(std::span<const Subject> subjects, const std::string& title, const char* note,
                     std::span<const Part> parts, Chart::Kind kind) {
  std::string html;
  for (std::size_t run = 0; run < subjects.size(); ++run) {
    const Subject& subject = subjects[run];
    Chart chart{.title = subjects.size() > 1 ? title + " · " + subject.name : title,
                .note = note,
                .series = {},
                .kind = kind,
                .run = static_cast<int>(run)};
    for (const Part& part : parts) {
      Series series{std::string(part.name), part.colour, false, points_of(subject, part.metric)};
      if (has_other_than_zero({series})) chart.series.push_back(std::move(series));
    }
    chart.y_low = 0;
    html += render(chart);
  }
  return html;
}

/// Returns a chart of the mean length with bands of its quantiles; the median is dashed.
std::string length_quantiles(const Subject& subject, int colour, bool several) {
  Chart chart{.title = several ? "Length quantiles · " + subject.name : "Length quantiles",
              .note = "tokens",
              .series = {},
              .run = colour};
  const auto add_band = [&](const char* low, const char* high) {
    Series series{"", colour, true, {}};
    const auto lows = points_of(subject, low);
    const auto highs = points_of(subject, high);
    const auto middle = points_of(subject, "response_length_p50");
    for (std::size_t i = 0; i < std::min({lows.size(), highs.size(), middle.size()}); ++i) {
      series.points.push_back({lows[i].x, middle[i].y, lows[i].y, highs[i].y});
    }
    chart.series.push_back(std::move(series));
  };
  add_band("response_length_p05", "response_length_p95");
  add_band("response_length_p25", "response_length_p75");
  Series mean{"mean", colour, false, points_of(subject, "response_length_mean")};
  for (Point& p : mean.points) p.low = p.high = p.y;
  chart.series.push_back(std::move(mean));
  chart.y_low = 0;
  chart.series[0].name = "median, 5–95 %";
  chart.series[1].name = "median, 25–75 %";
  return chart.series[0].points.empty() ? "" : render(chart);
}

/// Without an interval: neither the tokens of a response nor the responses to a prompt are
/// independent.
Series hazard_series(const Subject& subject, int colour, const LengthStatistics& lengths,
                     bool start) {
  Series series{subject.name + (start ? ", start" : ", end"), colour, start, {}, colour};
  for (const auto& bin : lengths.bins) {
    const double rate = bin.hazard();
    if (bin.exposed >= 20) series.points.push_back({bin.position, rate, rate, rate});
  }
  return series;
}

Series tail_series(const Subject& subject, int colour, const LengthStatistics& lengths,
                   bool start) {
  Series series{subject.name + (start ? ", start" : ", end"), colour, start, {}, colour};
  for (const auto& [length, share] : lengths.tail)
    series.points.push_back({length, share, share, share});
  return series;
}

Series diagonal(double longest) {
  return {"C = L", 7, true, {{0, 0, 0, 0}, {longest, longest, longest, longest}}};
}

std::string scatter(std::span<const Subject> subjects) {
  Chart chart{.title = "C_context against L",
              .note = "",
              .x_label = "response length L, tokens",
              .series = {},
              .kind = Chart::Kind::kScatter};
  double longest = 0;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const double r = trap_statistics(subjects[i]).correlation;
    Series series{subjects[i].name + ", r within a step = " + short_number(r),
                  static_cast<int>(i),
                  false,
                  {},
                  static_cast<int>(i)};
    for (const auto& [length, distinct] : length_and_coverage(subjects[i], 500)) {
      series.points.push_back({length, distinct, distinct, distinct});
      longest = std::max(longest, length);
    }
    chart.series.push_back(std::move(series));
  }
  if (longest > 0) chart.series.push_back(diagonal(longest));
  chart.y_low = 0;
  return render(chart);
}

std::string term_means(std::span<const Subject> subjects, const RewardNames& rewards) {
  std::string html;
  for (const auto& [name, about] : rewards) {
    const std::string metric = "reward_" + name + "_mean";
    html += compared(subjects, {metric, about, "mean"}, true);
  }
  return html;
}

std::string number_means(std::span<const Subject> subjects) {
  std::string html;
  for (const std::string& name : number_names(subjects)) {
    const std::string metric = name + "_mean", eval_metric = "eval_" + metric;
    html += compared(subjects, {metric, name, "mean"});
    html += compared(subjects, {eval_metric, "Held-out " + name, "mean"});
  }
  return html;
}

std::string accuracy_by_source(std::span<const Subject> subjects) {
  const std::set<std::string> sources = evaluation_sources(subjects);
  if (sources.empty()) return "";
  std::string html = compared(
      subjects, {kSourceMean, "Accuracy, held-out, mean over sources", "each counts as much"});
  for (const std::string& source : sources) {
    const std::string metric = source_accuracy(source), title = "Accuracy, " + source;
    html += compared(subjects, {metric, title, "held-out prompts of this source"});
  }
  return html;
}

std::string coverage_by_n(std::span<const Subject> subjects) {
  std::string html;
  for (const std::int64_t n : metric_ngrams(subjects)) {
    html += compared(subjects, {fmt::format("c_context_{}_mean", n),
                                fmt::format("C_context, n = {}", n), "mean", true});
    html +=
        compared(subjects, {fmt::format("c_global_{}_run", n),
                            fmt::format("C_global, run so far, n = {}", n), "distinct n-grams"});
  }
  return html;
}

std::string verdict_shares(std::span<const Subject> subjects) {
  constexpr int kColours[] = {kGreen, kRose, kGold, kPurple, kTeal, kGrey, 1, 0};
  static_assert(std::size(kColours) == kVerdictCount);
  const std::vector<VerdictLine> verdicts = verdict_lines();
  std::vector<Part> parts;
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    parts.push_back({verdicts[i].metric, verdicts[i].words, kColours[i]});
  }
  return composed(subjects, "Verdicts", "share of responses", parts, Chart::Kind::kStacked);
}

std::string term_masses(std::span<const Subject> subjects, const RewardNames& rewards) {
  constexpr int kColours[] = {kGreen, kTeal, kPurple, kGold, kRose, kGrey};
  std::vector<std::string> metrics;
  for (const RewardName& reward : rewards) metrics.push_back("advantage_mass_" + reward.name);
  std::vector<Part> parts;
  for (std::size_t i = 0; i < rewards.size(); ++i) {
    parts.push_back({metrics[i], rewards[i].about, kColours[i % std::size(kColours)]});
  }
  return composed(subjects, "Advantage mass", "by reward term", parts, Chart::Kind::kStacked);
}

}  // namespace

std::string learning_charts(std::span<const Subject> subjects) {
  constexpr Quantity kQuantities[] = {
      {"accuracy", "Accuracy, training prompts", "95 % interval"},
      {"generated_accuracy", "Accuracy, training prompts, with dropped groups", "all generated"},
      {"eval_accuracy", "Accuracy, held-out prompts", "95 % interval"},
      {"response_length_mean", "Response length", "mean, tokens", true},
      {"eval_response_length_mean", "Response length, held-out", "mean, tokens", true},
      {"truncation_rate", "Truncation rate", "share cut at the response limit", true},
  };
  std::string html = compared_all(subjects, kQuantities) + accuracy_by_source(subjects);
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    html += length_quantiles(subjects[i], static_cast<int>(i), subjects.size() > 1);
  }
  return html;
}

std::string tuning_charts(std::span<const Subject> subjects) {
  constexpr Quantity kQuantities[] = {
      {"loss", "Loss", "nats a response token, mean of the batch"},
      {"validation_loss", "Validation loss", "nats a response token"},
      {"response_tokens", "Response tokens a step", "", true},
      {"step_seconds", "Seconds a step", "", true},
  };
  const bool reinforced = std::ranges::any_of(
      subjects, [](const Subject& s) { return s.runs.front().curves.contains("accuracy"); });
  return reinforced ? "" : compared_all(subjects, kQuantities);
}

std::string exploration_charts(std::span<const Subject> subjects) {
  constexpr Quantity kQuantities[] = {
      {"c_context_mean", "C_context", "distinct n-grams of a response, mean", true},
      {"r_context_mean", "R_context", "C_context / n-grams, mean"},
      {"c_global_step", "C_global, step", "distinct n-grams over a step"},
      {"c_global_run", "C_global, run so far", "distinct n-grams"},
      {"entropy_mean", "Entropy", "nats a token, mean", true},
      {"largest_repeat_mean", "Largest repeat", "occurrences of the most frequent n-gram"},
  };
  constexpr Part kQuarters[] = {{"entropy_quarter_1_mean", "first quarter of a response", kTeal},
                                {"entropy_quarter_2_mean", "second", kGreen},
                                {"entropy_quarter_3_mean", "third", kGold},
                                {"entropy_quarter_4_mean", "last", kRose}};
  return compared_all(subjects, kQuantities) + coverage_by_n(subjects) +
         composed(subjects, "Entropy by position", "nats a token", kQuarters, Chart::Kind::kLines);
}

std::string reward_charts(std::span<const Subject> subjects) {
  constexpr Quantity kReward{"reward_mean", "Reward", "sum of the terms, mean"};
  constexpr Part kGroups[] = {{"groups_all_right_share", "all right", kGreen},
                              {"groups_all_wrong_share", "all wrong", kRose},
                              {"groups_mixed_share", "mixed", kGrey}};
  const RewardNames rewards = reward_names(subjects);
  return compared(subjects, kReward, true) + term_means(subjects, rewards) +
         number_means(subjects) +
         composed(subjects, "Groups", "share", kGroups, Chart::Kind::kStacked) +
         verdict_shares(subjects) + term_masses(subjects, rewards);
}

std::string update_charts(std::span<const Subject> subjects) {
  constexpr Quantity kQuantities[] = {
      {"clip_fraction", "Clip fraction", "share of tokens", true},
      {"first_minibatch_ratio_max_deviation", "Ratio deviation, 1st mini-batch",
       "largest |ratio − 1|", true},
      {"approx_kl", "KL to the sampling policy", "k1 estimate, nats a token"},
      {"grad_norm", "Gradient norm", "before clipping, mean over updates", true},
      {"learning_rate", "Learning rate", "", true},
      {"advantage_magnitude_mean", "Advantage", "mean magnitude", true},
  };
  return compared_all(subjects, kQuantities);
}

std::string speed_charts(std::span<const Subject> subjects) {
  constexpr Part kPhases[] = {{"generate_seconds", "generate", kTeal},
                              {"update_seconds", "update", kPurple},
                              {"publish_seconds", "publish weights", kGold},
                              {"evaluate_seconds", "evaluate", kGrey},
                              {"log_seconds", "log", kRose}};
  constexpr Part kIdle[] = {{"idle_share_actor", "actors", kTeal},
                            {"idle_share_reward_worker", "reward workers", kGold},
                            {"idle_share_learner", "learners", kPurple}};
  constexpr Quantity kTokens{"tokens_per_second", "Tokens a second", "sampled, whole step", true};
  return composed(subjects, "Seconds a step", "by phase", kPhases, Chart::Kind::kStacked) +
         composed(subjects, "Idle share", "of each role's time", kIdle, Chart::Kind::kLines) +
         compared(subjects, kTokens);
}

std::string trap_charts(std::span<const Subject> subjects) {
  Chart hazard{.title = "End-of-sequence hazard",
               .note = "if the position is reached",
               .x_label = "position, tokens",
               .series = {}};
  Chart tail{.title = "Length tail",
             .note = "share of responses of at least L tokens",
             .x_label = "L, tokens",
             .series = {},
             .log_y = true};
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const TrapStatistics trap = trap_statistics(subjects[i]);
    const int colour = static_cast<int>(i);
    for (const bool start : {true, false}) {
      const LengthStatistics& lengths = start ? trap.start : trap.end;
      hazard.series.push_back(hazard_series(subjects[i], colour, lengths, start));
      tail.series.push_back(tail_series(subjects[i], colour, lengths, start));
    }
  }
  hazard.y_low = 0;
  return render(hazard) + render(tail) + scatter(subjects);
}

}  // namespace lie::analyze
