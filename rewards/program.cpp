#include "rewards/program.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/text/scan.h"

namespace lie {
namespace {

constexpr std::size_t kMaxNumbers = 64;  // different ones in a run
constexpr std::size_t kMaxNameBytes = 64;
constexpr std::size_t kMaxAnswerBytes = 1 << 20;
constexpr std::size_t kLastWords = 10;
constexpr int kAttendMilliseconds = 50;

std::string request_line(std::int64_t id, const ProgramRequest& request) {
  const auto& [ticket, response, sample, text, score] = request;
  const Prompt& prompt = ticket.prompt;
  const bool ended = response.finish == FinishReason::kEndOfSequence;
  std::string line = fmt::format(
      R"({{"id":{},"step":{},"purpose":"{}","group":{},"sample":{},"problem":{},"prompt":{},)"
      R"("gold":{},"data_source":{},"response":{},"tokens":{},"finish":"{}")",
      id, ticket.step, ticket.purpose == Purpose::kTrain ? "train" : "evaluate", ticket.group,
      sample, prompt.row.empty() ? "null" : prompt.row, json_quoted(prompt.text),
      json_quoted(prompt.gold), json_quoted(prompt.data_source), json_quoted(text),
      response.ids.size(), ended ? "end_of_sequence" : "length");
  if (score != nullptr) {
    line += fmt::format(R"(,"verdict":"{}","answer":{})", name(score->verdict),
                        json_quoted(score->extracted));
  }
  return line + "}\n";
}

bool is_name(const std::string& name) {
  const auto may_stand = [](char c) { return is_letter_or_digit(c) || c == '_'; };
  return !name.empty() && name.size() <= kMaxNameBytes && std::ranges::all_of(name, may_stand);
}

std::string clipped(const std::string& line) {
  constexpr std::size_t kShown = 300;
  return line.size() <= kShown ? line : line.substr(0, kShown) + "...";
}

}  // namespace

void describe(FieldList& fields, VerifierProgramOptions& options) {
  fields.add("command", options.command,
             {"Program that decides in the verifier's place (docs/reference/reward-programs.md); "
              "empty: none."});
}

RewardProgram::RewardProgram(Kind kind, const std::string& command, ProgramHost host)
    : kind_(kind),
      key_(kind == Kind::kReward ? "reward.command" : "verifier.command"),
      command_(command),
      host_(std::move(host)),
      log_(key_, host_.rank),
      process_(command) {}

void RewardProgram::ask(const ProgramRequest& request) {
  asked_.push_back({next_id_, request.ticket.step, request.ticket.prompt.problem, request.sample});
  process_.write(request_line(next_id_++, request));
  hear_complaints();
}

ProgramAnswer RewardProgram::answer() {
  for (Stopwatch watch; true;) {
    if (const auto line = process_.output().line()) return parse(*line);
    if (process_.output().bytes() > kMaxAnswerBytes) {
      fail_program(fmt::format("gave more than {} bytes without an end of line to {}",
                               kMaxAnswerBytes, name_of(asked_.front())));
    }
    if (process_.output().ended()) fail_program(how_it_ended());
    if (watch.seconds() > host_.patience_seconds) {
      say_what_is_waited_for();
      watch = {};
    }
    wait();
  }
}

void RewardProgram::finish() {
  process_.close_input();
  for (Stopwatch watch; !process_.ended(); wait()) {
    if (watch.seconds() < host_.patience_seconds) continue;
    log_.warn("`{}` does not exit although its standard input is closed", command_);
    watch = {};
  }
  wait();
  if (const auto line = process_.output().line()) fail_answer(*line, "nobody asked for it");
  if (!process_.ended_well()) log_.warn("`{}` {} at its end", command_, *process_.ended());
}

void RewardProgram::wait() {
  const bool over = process_.output().ended() || process_.ended();
  process_.pump(over ? 1 : kAttendMilliseconds);
  hear_complaints();
  if (host_.poll_progress) host_.poll_progress();
}

void RewardProgram::hear_complaints() {
  while (auto line = process_.complaints().line()) {
    log_.info("{}", *line);
    last_words_.push_back(*std::move(line));
    if (last_words_.size() > kLastWords) last_words_.pop_front();
  }
}

void RewardProgram::say_what_is_waited_for() const {
  log_.warn("`{}` has not answered {} for {:.0f} s; still waiting", command_,
            name_of(asked_.front()), host_.patience_seconds);
}

ProgramAnswer RewardProgram::parse(const std::string& line) {
  if (asked_.empty()) fail_answer(line, "nobody asked for it");
  ProgramAnswer answer;
  try {
    const JsonRow row = parse_json_row(line, "the answer");
    const auto id = row.integer("id");
    if (id && *id != asked_.front().id) fail("id {} where {} is the next", *id, asked_.front().id);
    answer.correct = row.boolean("correct");
    if (kind_ == Kind::kVerifier) {
      if (!answer.correct) fail("field correct is missing; a verifier answers true or false");
      answer.answer = row.text("answer").value_or("");
    } else {
      const auto reward = row.number("reward");
      if (!reward) fail("field reward is missing; expected a number");
      answer.reward = static_cast<float>(*reward);
      if (!std::isfinite(answer.reward)) fail("reward {} is too large", *reward);
    }
    for (const std::string& name : row.names()) take_number(row, name, answer);
  } catch (const Error& error) {
    fail_answer(line, error.what());
  }
  asked_.pop_front();
  return answer;
}

void RewardProgram::take_number(const JsonRow& row, const std::string& name,
                                ProgramAnswer& answer) {
  const bool verifies = kind_ == Kind::kVerifier;
  if (name == "id" || name == "correct" || name == (verifies ? "answer" : "reward")) return;
  if (!is_name(name)) {
    fail("\"{}\" is no name for a number: expected up to {} letters, digits and _", name,
         kMaxNameBytes);
  }
  const auto value = row.number(name);
  if (!value) return;
  names_.insert(name);
  if (names_.size() > kMaxNumbers) {
    fail("\"{}\" is the {}th number by its name; at most {} are logged", name, names_.size(),
         kMaxNumbers);
  }
  answer.numbers.push_back({(verifies ? "verifier_" : "command_") + name, *value});
}

std::string RewardProgram::name_of(const Asked& asked) const {
  return fmt::format("request {} (step {}, problem {}, sample {})", asked.id, asked.step,
                     asked.problem, asked.sample);
}

std::string RewardProgram::how_it_ended() {
  const bool is_over = process_.ended().has_value();
  std::string end = process_.kill();
  if (!is_over && end.starts_with("was killed")) end = "closed its standard output or " + end;
  return fmt::format("{} and owes {} answers, the first to {}", end, asked_.size(),
                     name_of(asked_.front()));
}

void RewardProgram::fail_program(const std::string& why) {
  process_.kill();
  hear_complaints();
  fail("{} `{}` {}; its last words on standard error: {}", key_, command_, why,
       last_words_.empty() ? "none" : fmt::format("{}", fmt::join(last_words_, " | ")));
}

void RewardProgram::fail_answer(const std::string& line, const std::string& why) {
  const std::string request = asked_.empty() ? "no request" : name_of(asked_.front());
  fail_program(fmt::format("answered {} with \"{}\": {}", request, clipped(line), why));
}

}  // namespace lie
