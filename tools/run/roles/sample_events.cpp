#include "tools/run/roles/sample_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "common/base/clock.h"
#include "common/base/run_files.h"
#include "common/text/printable.h"

namespace lie {
namespace {

constexpr std::size_t kTexts = 8;  // of an evaluation

/// Returns a text as an indented block, in which Markdown interprets nothing.
std::string verbatim(const std::string& text) {
  std::istringstream lines(printable(text));
  std::string block = "\n";
  for (std::string line; std::getline(lines, line);) block += "    " + line + "\n";
  return block;
}

std::string sample_text(const ScoredGroup& group, const std::string& response) {
  const Prompt& prompt = group.rollout.ticket.prompt;
  const Score& score = group.scores.front();
  return fmt::format("**Problem {}** {}: {}, gold\n{}\nprompt\n{}\nresponse\n{}\n---\n\n",
                     prompt.problem, prompt.data_source, name(score.verdict), verbatim(prompt.gold),
                     verbatim(prompt.text), verbatim(response));
}

}  // namespace

SampleEvents::SampleEvents(const std::filesystem::path& run_directory, const RunStart& start)
    : directory_(run_directory / kTensorBoard / "samples"),
      first_step_(start.logged_step > 0 ? start.logged_step + 1 : 0),
      tokenizer_(Tokenizer::load(start.model_directory)) {}

void SampleEvents::record(StepOutcome& step) {
  if (step.step < first_step_) return;
  record_lengths(step.step, "rollout/response_length", step.groups);
  record_lengths(step.step, "evaluation/response_length", step.evaluation);
  if (!step.evaluation.empty()) record_texts(step);
}

void SampleEvents::record_lengths(std::int64_t step, const char* tag,
                                  std::span<const ScoredGroup> groups) {
  std::vector<double> lengths;
  for (const ScoredGroup& group : groups) {
    for (const Response& response : group.rollout.responses) {
      lengths.push_back(static_cast<double>(response.ids.size()));
    }
  }
  if (!lengths.empty()) write(histogram_record(unix_seconds(), step, tag, lengths));
}

/// Records the first response to the first prompts, which are the same in all evaluations.
void SampleEvents::record_texts(const StepOutcome& step) {
  std::string text;
  for (const ScoredGroup& group :
       std::span(step.evaluation).first(std::min(kTexts, step.evaluation.size()))) {
    text += sample_text(group, tokenizer_.response_text(group.rollout.responses.front().ids));
  }
  write(text_record(unix_seconds(), step.step, "evaluation/samples", text));
}

void SampleEvents::write(const std::string& record) {
  if (!events_) events_.emplace(directory_, first_step_);
  events_->write_record(record);
}

}  // namespace lie
