#include "tools/analyze/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "learner/evaluation_metrics.h"
#include "tools/analyze/chart.h"
#include "tools/analyze/curves.h"
#include "tools/analyze/report_style.h"
#include "tools/analyze/responses.h"
#include "tools/analyze/sections.h"
#include "tools/analyze/table.h"

namespace lie::analyze {
namespace {

std::string swatch(std::size_t subject) {
  return fmt::format("<i class={}></i>", colour_class(static_cast<int>(subject)));
}

std::string navigation(std::span<const Subject> subjects) {
  std::string html = "<nav>";
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    html += fmt::format("<span>{}{}</span>", swatch(i), escaped(subjects[i].name));
  }
  html +=
      "<a href=#glance>at a glance</a><a href=#learning>learning</a><a "
      "href=#exploration>exploration</a>"
      "<a href=#trap>trap</a><a href=#rewards>rewards</a><a href=#updates>updates</a>"
      "<a href=#speed>speed</a><a href=#settings>settings</a><a "
      "href=#responses>responses</a></nav>";
  return html;
}

std::string section(const char* id, const char* title, const std::string& words,
                    const std::string& body, const char* css = "grid3") {
  if (body.empty()) return "";
  return fmt::format("<h2 id={}>{}</h2><p>{}</p><div class={}>{}</div>\n", id, title, words, css,
                     body);
}

/// "0.54 -> 0.73" with the end's interval below.
std::string glance_cell(const Subject& subject, const char* metric) {
  const StartAndEnd ends = start_and_end(subject, metric);
  if (!ends.known) return "<td class=number>–</td>";
  std::string html = fmt::format("<td class=number><span class=from>{} →</span> <b>{}</b>",
                                 short_number(ends.start.value), short_number(ends.end.value));
  if (short_number(ends.end.low) != short_number(ends.end.high)) {
    html += fmt::format("<small>{} to {}</small>", short_number(ends.end.low),
                        short_number(ends.end.high));
  }
  return html + "</td>";
}

std::string notes_of(std::span<const Subject> subjects) {
  std::string items;
  for (const Subject& subject : subjects) {
    for (const Run& run : subject.runs) {
      for (const std::string& note : run.notes) {
        items += fmt::format("<li>{}: {}</li>", escaped(run.directory.string()), escaped(note));
      }
    }
  }
  return items.empty() ? "" : "<ul class=notes>" + items + "</ul>";
}

std::string states_of(const Subject& subject) {
  std::string html;
  for (const Run& run : subject.runs) {
    html +=
        fmt::format("<small>{}: {}</small>", escaped(run.directory.string()), escaped(run.state));
  }
  return html;
}

std::string glance(std::span<const Subject> subjects) {
  std::vector<std::pair<const char*, const char*>> columns = {
      {"accuracy", "accuracy"},           {"eval_accuracy", "held-out"},
      {"response_length_mean", "length"}, {"c_context_mean", "C_context"},
      {"r_context_mean", "R_context"},    {"entropy_mean", "entropy"},
      {"reward_mean", "reward"},          {"truncation_rate", "truncated"},
      {"tokens_per_second", "tokens/s"}};
  if (!evaluation_sources(subjects).empty()) {
    columns.insert(columns.begin() + 2, {kSourceMean.data(), "held-out, mean over sources"});
  }
  std::string html =
      "<h2 id=glance>At a glance</h2><p>Start → end: mean over the first and the last tenth of "
      "the steps (held-out: first and last evaluation), with the 95 % interval of the end.</p>"
      "<div class=panel><table><tr><th>run</th>";
  for (const auto& [metric, words] : columns)
    html += fmt::format("<th class=number>{}</th>", words);
  html += "</tr>";
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    html += fmt::format("<tr><td><b>{} {}</b>{}</td>", swatch(i), escaped(subjects[i].name),
                        states_of(subjects[i]));
    for (const auto& [metric, words] : columns) html += glance_cell(subjects[i], metric);
    html += "</tr>";
  }
  return html + "</table></div>" + notes_of(subjects);
}

/// The values of a setting over a subject's runs: one if they agree, else all.
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

std::string responses_section(std::span<const Subject> subjects, std::size_t count) {
  std::string html;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    if (subjects[i].runs.empty()) continue;
    const std::string cards = response_cards(subjects[i].runs.front(), count);
    if (cards.empty()) continue;
    html += fmt::format("<h3>{}{}</h3><div class=cards>{}</div>", swatch(i),
                        escaped(subjects[i].name), cards);
  }
  return html;
}

std::string interval_words(std::span<const Subject> subjects) {
  const bool seeds =
      std::ranges::any_of(subjects, [](const Subject& s) { return s.runs.size() > 1; });
  return seeds ? "Lines of several seeds are their mean, bands Student's t 95 % intervals over the "
                 "seeds; accuracies of a single run have binomial (Wilson) 95 % intervals."
               : "Bands of accuracies are binomial (Wilson) 95 % intervals over the responses of a "
                 "step.";
}

}  // namespace

std::string html_report(std::span<const Subject> subjects, std::size_t responses) {
  std::string html = fmt::format(
      "<!doctype html><html lang=en><head><meta charset=utf-8><meta name=viewport "
      "content=\"width=device-width, initial-scale=1\"><title>LIE Cluster "
      "report</title><style>{}</style></head>"
      "<body><main><h1>Run report</h1><p class=lead>{}</p>{}",
      kReportStyle, interval_words(subjects), navigation(subjects));
  html += glance(subjects);
  html += section("learning", "Learning", "Does it get better, and how long does it think?",
                  learning_charts(subjects));
  html += section("exploration", "Exploration in context",
                  "How many distinct states a response, a step and the run visit.",
                  exploration_charts(subjects));
  html += section(
      "trap", "The shallow exploration trap",
      "Where responses end and how rare long ones are, in the first (dashed) and the "
      "last tenth of the steps. If ending has at least probability ε everywhere, "
      "responses of L tokens are rarer than (1 − ε)<sup>L−1</sup>: a straight line in the tail.",
      trap_charts(subjects));
  html += section("rewards", "Rewards and groups",
                  "Reward terms apart, what groups look like, and why the verifier decided.",
                  reward_charts(subjects));
  html += section("updates", "Updates", "Is the policy update healthy?", update_charts(subjects));
  html += section("speed", "Speed", "Where the time goes.", speed_charts(subjects));
  html += section("settings", "Settings",
                  subjects.size() > 1 ? "Keys whose values differ are marked."
                                      : "As resolved when the run began.",
                  settings(subjects), "panel");
  html += section("responses", "Responses",
                  "From the first and the last training step; of several seeds, the first.",
                  responses_section(subjects, responses), "responses");
  return html + "</main></body></html>\n";
}

}  // namespace lie::analyze
