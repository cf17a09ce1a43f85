#include "tools/analyze/report/shown_responses.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/tokenizer/unicode.h"
#include "tools/analyze/curves.h"
#include "tools/analyze/responses.h"
#include "tools/analyze/statistics.h"
#include "tools/analyze/table.h"

namespace lie::analyze {
namespace {

constexpr std::size_t kMostCharacters = 6000;
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

std::string clipped(const std::string& text) {
  if (text.size() <= kMostCharacters) return text;
  const std::size_t cut = utf8_start(text, kMostCharacters);
  return text.substr(0, cut) + fmt::format(" … {} more bytes", text.size() - cut);
}

Json answer_of(const Run& run, std::size_t i) {
  const SampleColumns& s = run.samples;
  const std::string extracted = run.trajectories->extracted(i);
  Json answer = Json::array();
  const auto add = [&](const char* name, const std::string& value) {
    answer.push_back(Json::array({name, value}));
  };
  add("gold", run.trajectories->problem(i).gold);
  add("extracted", extracted.empty() ? "nothing" : extracted);
  add("L", std::to_string(s.tokens[i]));
  if (s.target_length[i] > 0) add("L_target", short_number(s.target_length[i]));
  add("C_context", std::to_string(s.distinct_ngrams[i]));
  if (s.largest_repeat[i] > 1) add("largest repeat", std::to_string(s.largest_repeat[i]));
  return answer;
}

Json rewards_of(const SampleColumns& s, std::size_t i) {
  Json rewards = Json::array();
  const auto add = [&](const std::string& name, double value) {
    rewards.push_back(Json::array({name, short_number(value)}));
  };
  add("reward", s.reward[i]);
  for (const RewardColumn& term : s.rewards) {
    if (term.values[i] != 0) add(term.about, term.values[i]);
  }
  for (const NumberColumn& number : s.numbers) {
    if (!std::isnan(number.values[i])) add(number.name, number.values[i]);
  }
  add("advantage", s.advantage[i]);
  return rewards;
}

}  // namespace

std::vector<Decoder> decoders_of(std::span<const Subject> subjects) {
  std::vector<Decoder> decoders;
  for (const Subject& subject : subjects) {
    const Run& run = subject.runs.front();
    decoders.push_back(run.samples.size() > 0 ? decoder_of(run) : Decoder());
  }
  return decoders;
}

Json response_json(const Run& run, const Decoder& decode, std::size_t i) {
  const SampleColumns& s = run.samples;
  const SampleKey& key = run.trajectories->samples()[i].key;
  return {{"step", key.step},
          {"problem", s.problem[i]},
          {"sample", key.sample},
          {"verdict", verdict_word(s.verdict[i])},
          {"correct", s.verdict[i] == 0},
          {"cut", s.finish_reason[i] == 1},
          {"prompt", clipped(decode(run.trajectories->problem(i).prompt_ids))},
          {"text", clipped(decode(run.trajectories->response_ids(i)))},
          {"answer", answer_of(run, i)},
          {"rewards", rewards_of(s, i)}};
}

Json shown_responses(const Run& run, const Decoder& decode, std::size_t count, std::size_t most) {
  Json responses = Json::array();
  if (run.train_count.empty() || count == 0) return responses;
  std::vector<std::int64_t> steps;
  for (const auto& [step, responses_logged] : run.train_count) steps.push_back(step);
  const std::int64_t first = steps.front(), last = steps.back();
  steps = evenly_chosen(steps, most);
  if (steps.back() != last) steps.push_back(last);
  const std::size_t each = std::clamp<std::size_t>(most / steps.size(), 1, count);
  for (const std::int64_t step : steps) {
    const std::size_t wanted = step == first || step == last ? count : each;
    for (const std::size_t i : responses_of_step(run, step, wanted)) {
      responses.push_back(response_json(run, decode, i));
    }
  }
  return responses;
}

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

Json shown_pairs(std::span<const Subject> subjects, std::span<const Decoder> decoders,
                 Purpose purpose, std::size_t most) {
  std::vector<const Run*> runs;
  for (const Subject& subject : subjects) runs.push_back(&subject.runs.front());
  Json sources = Json::array();
  for (const auto& [source, prompts] : shared_prompts(runs, purpose, most)) {
    Json shown = Json::array();
    for (const SharedPrompt& prompt : prompts) {
      Json answers = Json::array();
      for (std::size_t r = 0; r < runs.size(); ++r) {
        answers.push_back(response_json(*runs[r], decoders[r], prompt[r]));
      }
      shown.push_back(std::move(answers));
    }
    sources.push_back({{"source", source}, {"prompts", std::move(shown)}});
  }
  return sources;
}

}  // namespace lie::analyze
