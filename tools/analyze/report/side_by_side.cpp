#include "tools/analyze/report/side_by_side.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/analyze/report/html.h"
#include "tools/analyze/report/page.h"
#include "tools/analyze/responses.h"
#include "tools/analyze/statistics.h"

namespace lie::analyze {
namespace {

constexpr std::size_t kMostRead = 2000;  // limit of problems whose texts are compared

/// Row of the data file to the latest answer of a run.
using Answers = std::map<std::int64_t, std::size_t>;

Answers latest_answers(const Run& run, Purpose purpose) {
  const bool trains = purpose == Purpose::kTrain;
  const std::int64_t last = run.eval_count.empty() ? 0 : run.eval_count.rbegin()->first;
  Answers answers;
  for (std::size_t i = 0; i < run.samples.size(); ++i) {
    const bool is_meant =
        run.samples.is_training(i) == trains && (trains || run.samples.step[i] == last);
    if (is_meant && run.trajectories->samples()[i].key.sample == 0) {
      answers[run.samples.problem[i]] = i;
    }
  }
  return answers;
}

/// Returns the answers to rows that all runs answered.
std::vector<SharedPrompt> common_rows(std::span<const Run* const> runs, Purpose purpose) {
  std::vector<Answers> answers;
  for (const Run* run : runs) answers.push_back(latest_answers(*run, purpose));
  std::vector<SharedPrompt> prompts;
  for (const auto& [row, first] : answers.front()) {
    SharedPrompt prompt;
    for (const Answers& of_run : answers) {
      if (const auto found = of_run.find(row); found != of_run.end())
        prompt.push_back(found->second);
    }
    if (prompt.size() == runs.size()) prompts.push_back(std::move(prompt));
  }
  return prompts;
}

bool is_one_problem(std::span<const Run* const> runs, const SharedPrompt& prompt,
                    const ProblemText& first) {
  for (std::size_t r = 1; r < runs.size(); ++r) {
    const ProblemText other = runs[r]->trajectories->problem(prompt[r]);
    if (other.text != first.text || other.gold != first.gold) return false;
  }
  return true;
}

/// Returns HTML with the prompt, and below it each run's answer.
std::string compared_answers(std::span<const Subject> subjects, std::span<const Decoder> decoders,
                             const SharedPrompt& prompt) {
  std::string html = "<div class=compared>" +
                     prompt_text(subjects[0].runs[0], decoders[0], prompt[0]) + "<div class=cards>";
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    html += fmt::format("<article data-run={}>{}</article>", i,
                        answer_text(subjects[i].runs[0], decoders[i], prompt[i],
                                    swatch(i) + " " + escaped(subjects[i].name)));
  }
  return html + "</div></div>";
}

}  // namespace

std::map<std::string, std::vector<SharedPrompt>> shared_prompts(std::span<const Run* const> runs,
                                                                Purpose purpose, std::size_t most) {
  std::map<std::string, std::vector<SharedPrompt>> by_source;
  for (SharedPrompt& prompt : evenly_chosen(common_rows(runs, purpose), kMostRead)) {
    const ProblemText problem = runs[0]->trajectories->problem(prompt[0]);
    if (is_one_problem(runs, prompt, problem)) by_source[problem.data_source].push_back(prompt);
  }
  for (auto& [source, prompts] : by_source) {
    prompts = evenly_chosen(prompts, std::max<std::size_t>(1, most / by_source.size()));
  }
  return by_source;
}

std::string side_by_side(std::span<const Subject> subjects, std::span<const Decoder> decoders,
                         Purpose purpose, std::size_t most) {
  std::vector<const Run*> runs;
  for (const Subject& subject : subjects) runs.push_back(&subject.runs.front());
  std::string html;
  for (const auto& [source, prompts] : shared_prompts(runs, purpose, most)) {
    if (!source.empty()) html += fmt::format("<h3>{}</h3>", escaped(source));
    for (const SharedPrompt& prompt : prompts) html += compared_answers(subjects, decoders, prompt);
  }
  return html;
}

}  // namespace lie::analyze
