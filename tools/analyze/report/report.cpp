#include "tools/analyze/report/report.h"

#include <fmt/chrono.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "common/base/build_id.h"
#include "common/base/clock.h"
#include "learner/record/evaluation_metrics.h"
#include "tools/analyze/curves.h"
#include "tools/analyze/report/evaluation_table.h"
#include "tools/analyze/report/html.h"
#include "tools/analyze/report/page.h"
#include "tools/analyze/report/sections.h"
#include "tools/analyze/report/side_by_side.h"
#include "tools/analyze/responses.h"
#include "tools/analyze/table.h"

namespace lie::analyze {
namespace {

/// Returns a cell "0.54 → 0.73" with the end's interval below.
std::string glance_cell(const Subject& subject, std::string_view metric) {
  const StartAndEnd ends = start_and_end(subject, std::string(metric));
  if (!ends.known) return "<td class=number>–</td>";
  std::string html =
      fmt::format("<td class=number><span class=from>{} →</span> <b>{}</b>",
                  value_text(metric, ends.start.value), value_text(metric, ends.end.value));
  const std::string low = value_text(metric, ends.end.low);
  const std::string high = value_text(metric, ends.end.high);
  if (low != high) html += fmt::format("<small>{} to {}</small>", low, high);
  return html + "</td>";
}

std::string day(double seconds) {
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

/// Returns what distinguishes a run: start time, model, data, coverage settings and program
/// version.
std::vector<std::string> details_of(const Run& run) {
  std::vector<std::string> details;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) details.push_back(std::string(name) + value);
  };
  if (run.begun > 0) details.push_back("begun " + day(run.begun));
  add("model ", setting_of(run, "model.path"));
  add("data ", setting_of(run, "data.train_file", "sft.data"));
  add("prompts ", setting_of(run, "data.evaluation_file", "eval.file"));
  const std::string n = setting_of(run, "reward.coverage.ngram");
  if (!n.empty()) add("C_context of n = ", n + " " + setting_of(run, "reward.coverage.unit"));
  if (run.trajectories && !run.trajectories->segments().empty()) {
    add("lie_cluster ", run.trajectories->segments().front().info().build_id);
  }
  return details;
}

std::string states_of(std::span<const Subject> subjects) {
  std::string items;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    for (const Run& run : subjects[i].runs) {
      items += fmt::format("<li data-run={}>{} {}: {}", i, swatch(i),
                           escaped(run.directory.string()), escaped(run.state));
      for (const std::string& detail : details_of(run)) items += " · " + escaped(detail);
      for (const std::string& note : run.notes) items += "<br>" + escaped(note);
      items += "</li>";
    }
  }
  return "<ul class=notes>" + items + "</ul>";
}

/// Returns the columns of the first table that some subject has.
std::vector<std::pair<std::string_view, const char*>> glance_columns(
    std::span<const Subject> subjects) {
  constexpr std::pair<std::string_view, const char*> kColumns[] = {
      {"accuracy", "accuracy"},
      {"eval_accuracy", "held-out"},
      {kSourceMean, "held-out, mean over sources"},
      {"response_length_mean", "length"},
      {"c_context_mean", "C_context"},
      {"r_context_mean", "R_context"},
      {"entropy_mean", "entropy"},
      {"reward_mean", "reward"},
      {"truncation_rate", "truncated"},
      {"loss", "loss"},
      {"validation_loss", "validation loss"},
      {"tokens_per_second", "tokens/s"}};
  std::vector<std::pair<std::string_view, const char*>> columns;
  const auto has = [&](std::string_view metric) {
    return std::ranges::any_of(subjects, [&](const Subject& subject) {
      return start_and_end(subject, std::string(metric)).known;
    });
  };
  for (const auto& column : kColumns) {
    // A policy's loss does not measure its quality.
    if (has(column.first) && !(column.first == "loss" && has("accuracy")))
      columns.push_back(column);
  }
  return columns;
}

std::string glance(std::span<const Subject> subjects) {
  const auto columns = glance_columns(subjects);
  std::string html = "<table><tr><th>run</th>";
  for (const auto& [metric, words] : columns) {
    html += fmt::format("<th class=number>{}</th>", words);
  }
  html += "</tr>";
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    html += fmt::format("<tr data-run={}><td><b>{} {}</b></td>", i, swatch(i),
                        escaped(subjects[i].name));
    for (const auto& [metric, words] : columns) html += glance_cell(subjects[i], metric);
    html += "</tr>";
  }
  return html + "</table>" + states_of(subjects);
}

/// Returns the value of a setting in a subject's runs, or all values if they differ.
std::string setting_cell(const Subject& subject, const std::string& key) {
  std::string text;
  std::set<std::string> seen;
  for (const Run& run : subject.runs) {
    const std::string value = setting_of(run, key);
    if (seen.insert(value).second) text += (text.empty() ? "" : " | ") + value;
  }
  return text;
}

std::string settings(std::span<const Subject> subjects) {
  std::vector<std::string> keys;
  std::set<std::string> known;
  for (const Subject& subject : subjects) {
    for (const Run& run : subject.runs) {
      for (const auto& [key, value] : run.settings) {
        if (known.insert(key).second) keys.push_back(key);
      }
    }
  }
  std::string head = "<tr><th>key</th>", differing, same;
  for (const Subject& subject : subjects) head += fmt::format("<th>{}</th>", escaped(subject.name));
  head += "</tr>";
  for (const std::string& key : keys) {
    std::set<std::string> values;
    std::string row = fmt::format("<td><code>{}</code></td>", escaped(key));
    for (const Subject& subject : subjects) {
      const std::string value = setting_cell(subject, key);
      values.insert(value);
      row += fmt::format("<td><code>{}</code></td>", escaped(value));
    }
    (values.size() > 1 ? differing : same) +=
        fmt::format("<tr{}>{}</tr>", values.size() > 1 ? " class=differs" : "", row);
  }
  if (keys.empty()) return "";
  std::string html;
  if (!differing.empty()) html += "<table>" + head + differing + "</table>";
  return html + fmt::format("<details><summary>{}</summary><table>{}{}</table></details>",
                            subjects.size() > 1 ? "Settings that agree" : "All settings", head,
                            same);
}

/// Returns a decoder for each subject's first run.
std::vector<Decoder> decoders_of(std::span<const Subject> subjects) {
  std::vector<Decoder> decoders;
  for (const Subject& subject : subjects) {
    const Run& run = subject.runs.front();
    decoders.push_back(run.samples.size() > 0 ? decoder_of(run) : Decoder());
  }
  return decoders;
}

std::string responses_section(std::span<const Subject> subjects, std::span<const Decoder> decoders,
                              std::size_t count) {
  std::string html;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const std::string cards = response_cards(subjects[i].runs.front(), decoders[i], count);
    if (cards.empty()) continue;
    html += fmt::format("<div data-run={}><h3>{}{}</h3><div class=cards>{}</div></div>", i,
                        swatch(i), escaped(subjects[i].name), cards);
  }
  return html;
}

/// Returns whether there are training steps, and not only evaluations.
bool has_steps(std::span<const Subject> subjects) {
  return std::ranges::any_of(subjects,
                             [](const Subject& s) { return s.runs.front().last_step > 0; });
}

/// Returns when and with what the page was made, and the meaning of its bands.
std::string lead(std::span<const Subject> subjects) {
  const bool seeds =
      std::ranges::any_of(subjects, [](const Subject& s) { return s.runs.size() > 1; });
  const char* intervals =
      seeds ? "Lines of several seeds are their mean, bands Student's t 95 % intervals over the "
              "seeds; accuracies of a single run have 95 % intervals over its prompts."
            : "Bands of accuracies are 95 % intervals over the prompts of a step.";
  return fmt::format(
      "Made {} by lie_analyze {}. {} Curves of more than about 600 points show the "
      "extremes of each stretch.",
      day(unix_seconds()), build_id(), intervals);
}

/// Returns "lie", "gspo and lie" or "a, b, c and 7 more".
std::string comparison_of(std::span<const std::string> names) {
  constexpr std::size_t kMostNamed = 4;
  const std::size_t named = names.size() > kMostNamed ? kMostNamed - 1 : names.size() - 1;
  std::string text =
      fmt::format("{}", fmt::join(names.first(std::max<std::size_t>(named, 1)), ", "));
  if (names.size() == 1) return text;
  return text + " and " +
         (names.size() > kMostNamed ? fmt::format("{} more", names.size() - named) : names.back());
}

}  // namespace

std::string html_report(std::span<const Subject> subjects, std::size_t responses) {
  std::vector<std::string> names;
  for (const Subject& subject : subjects) names.push_back(subject.name);
  const std::vector<Decoder> decoders = decoders_of(subjects);
  const bool several = subjects.size() > 1;
  const PageSection sections[] = {
      {"glance", "At a glance",
       "Start → end: mean over the first and the last tenth of the steps (held-out: first and last "
       "evaluation), with the 95 % interval of the end.",
       glance(subjects), "panel"},
      {"evaluation", "Evaluation",
       "Share of right responses by data source, with 95 % intervals over problems.",
       evaluation_section(subjects), "evaluation"},
      {"tuning", "Fine-tuning", "On rows with responses.", tuning_charts(subjects)},
      {"learning", "Learning", "Does it get better, and how long does it think?",
       has_steps(subjects) ? learning_charts(subjects) : ""},
      {"exploration", "Exploration in context",
       "How many distinct states a response, a step and the run visit.",
       exploration_charts(subjects)},
      {"trap", "The shallow exploration trap",
       "Where responses end and how rare long ones are, in the first (dashed) and the last tenth "
       "of the steps. If ending has at least probability ε everywhere, responses of L tokens are "
       "rarer than (1 − ε)<sup>L−1</sup>: a straight line in the tail.",
       trap_charts(subjects)},
      {"rewards", "Rewards and groups",
       "Reward terms apart, what groups look like, and why the verifier decided.",
       reward_charts(subjects)},
      {"updates", "Updates", "Is the policy update healthy?", update_charts(subjects)},
      {"speed", "Speed", "Where the time goes.", speed_charts(subjects)},
      {"settings", "Settings",
       several ? "Keys whose values differ are marked." : "As resolved when the run began.",
       settings(subjects), "panel"},
      {"responses", "Responses",
       "From the first and the last training step; of several seeds, the first.",
       responses_section(subjects, decoders, responses), "responses"},
      {"prompts", "The same training prompts, side by side",
       "As each run last answered them; of several seeds, the first.",
       several ? side_by_side(subjects, decoders, Purpose::kTrain, responses) : "", "responses"},
      {"held-out", "Held-out prompts by data source",
       "Their first responses of the last evaluation; of several seeds, of the first.",
       side_by_side(subjects, decoders, Purpose::kEvaluate, responses), "responses"}};
  return page(comparison_of(names) + ": LIE Cluster report", lead(subjects), names, sections);
}

}  // namespace lie::analyze
