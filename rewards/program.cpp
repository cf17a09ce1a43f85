#include "rewards/program.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/process/stop_signals.h"
#include "common/text/counted.h"
#include "common/text/printable.h"
#include "common/text/scan.h"

namespace lie {
namespace {

constexpr std::size_t kMaxNumbers = 64;  // distinct names in a run
constexpr std::size_t kMaxNameBytes = 64;
constexpr std::size_t kMaxAnswerBytes = 1 << 20;
constexpr std::size_t kLastLines = 10;
/// A program that floods its standard error must not fill the disk with the job's log.
constexpr std::size_t kLoggedBytesPerMinute = 1 << 20;
constexpr int kPollMilliseconds = 50;

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
  const auto is_allowed = [](char c) { return is_letter_or_digit(c) || c == '_'; };
  return !name.empty() && name.size() <= kMaxNameBytes && std::ranges::all_of(name, is_allowed);
}

/// Returns a line of standard error as the log has it.
std::string shortened(const std::string& line) {
  constexpr std::size_t kLogged = 4096;
  if (line.size() <= kLogged) return line;
  return fmt::format("{}... ({} bytes)", line.substr(0, kLogged), line.size());
}

std::string clipped(const std::string& line) {
  constexpr std::size_t kShown = 300;
  return line.size() <= kShown ? line : line.substr(0, kShown) + "...";
}

}  // namespace

void describe(FieldList& fields, VerifierProgramOptions& options) {
  fields.add("command", options.command,
             {.help = "Program that decides instead of the built-in verifier "
                      "(docs/reference/reward-programs.md); empty: none.",
              .is_command = true});
  add_command_time_limit(fields, options.command_time_limit_seconds);
}

void check_command(std::string_view key, std::string_view command) {
  if (command.find(kSecretMask) == std::string_view::npos) return;
  fail("{} is `{}`: {} stands for a secret that config.yaml does not keep; give the full command",
       key, command, kSecretMask);
}

void add_command_time_limit(FieldList& fields, double& seconds) {
  fields.add(
      "command_time_limit_seconds", seconds,
      {.help = "Longest time without an answer of the command. After it, the run ends with "
               "an error that names the request; resume it when the program is corrected. It "
               "never decides a reward or a verdict. 0: no limit.",
       .unit = "s",
       .min = 0});
}

RewardProgram::RewardProgram(Kind kind, const std::string& command, ProgramHost host)
    : kind_(kind),
      key_(kind == Kind::kReward ? "reward.command" : "verifier.command"),
      command_(without_secrets(command)),
      host_(std::move(host)),
      log_(key_, host_.rank),
      process_(command) {}

void RewardProgram::send(const ProgramRequest& request) {
  pending_.push_back(
      {next_id_, request.ticket.step, request.ticket.prompt.problem, request.sample});
  process_.write(request_line(next_id_++, request));
  log_standard_error();
}

ProgramAnswer RewardProgram::receive() {
  next_warning_seconds_ = host_.patience_seconds;
  for (const Stopwatch watch; true;) {
    if (const auto line = process_.output().line()) return parse(*line);
    if (process_.output().bytes() > kMaxAnswerBytes) {
      fail_program(fmt::format("gave more than {} bytes without an end of line to {}",
                               kMaxAnswerBytes, name_of(pending_.front())));
    }
    if (process_.output().ended()) fail_program(how_it_ended());
    check_patience(watch.seconds());
    wait();
  }
}

/// Reports that the oldest request has had no answer for `seconds`. Throws Error after the limit.
void RewardProgram::check_patience(double seconds) {
  const double limit = host_.time_limit_seconds;
  if (limit > 0 && seconds > limit) {
    fail_program(fmt::format("has not answered {} within {}_time_limit_seconds {}",
                             name_of(pending_.front()), key_, limit));
  }
  if (noted_stop_signal() != 0 && !has_announced_stop_) {
    has_announced_stop_ = true;
    log_.info(
        "stopping, but waiting for the answer of `{}` to {}; a second SIGTERM or Ctrl-C ends "
        "the run at once",
        command_, name_of(pending_.front()));
  }
  if (seconds <= next_warning_seconds_) return;
  next_warning_seconds_ += host_.patience_seconds;
  log_.warn("`{}` has not answered {} for {:.0f} s; still waiting", command_,
            name_of(pending_.front()), seconds);
}

/// Waits until the program exits, once its input is closed. All answers have come, so after the
/// time limit, or at a signal to stop, it is killed.
void RewardProgram::await_exit() {
  const double limit = host_.time_limit_seconds;
  const int signal_before = noted_stop_signal();
  next_warning_seconds_ = host_.patience_seconds;
  for (const Stopwatch watch; !process_.ended(); wait()) {
    const bool is_over = limit > 0 && watch.seconds() > limit;
    if (is_over || noted_stop_signal() != signal_before) {
      log_.warn("`{}` does not exit although its standard input is closed; it is killed", command_);
      process_.kill();
      return;
    }
    if (watch.seconds() < next_warning_seconds_) continue;
    next_warning_seconds_ += host_.patience_seconds;
    log_.warn(
        "`{}` does not exit although its standard input is closed; still waiting, until {} or a "
        "signal to stop",
        command_, limit > 0 ? fmt::format("{}_time_limit_seconds", key_) : "it does");
  }
}

void RewardProgram::finish() {
  process_.close_input();
  await_exit();
  wait();
  if (const auto line = process_.output().line()) fail_answer(*line, "no request is pending");
  log_number_omitted();
  if (!process_.ended_well()) log_.warn("`{}` {} at the end", command_, *process_.ended());
}

void RewardProgram::wait() {
  const bool over = process_.output().ended() || process_.ended();
  process_.pump(over ? 1 : kPollMilliseconds);
  log_standard_error();
  if (host_.poll_progress) host_.poll_progress();
}

void RewardProgram::log_standard_error() {
  while (const auto line = process_.errors().line()) {
    last_lines_.push_back(shortened(*line));
    log_line(last_lines_.back());
    if (last_lines_.size() > kLastLines) last_lines_.pop_front();
  }
}

/// Logs a line of standard error, unless this minute's lines have reached their limit.
void RewardProgram::log_line(const std::string& line) {
  if (log_minute_.seconds() > 60) {
    log_number_omitted();
    log_minute_ = {};
    logged_bytes_ = 0;
  }
  logged_bytes_ += line.size();
  if (logged_bytes_ <= kLoggedBytesPerMinute) return log_.info("{}", line);
  if (++omitted_lines_ > 1) return;
  log_.warn(
      "`{}` has written more than {} bytes to standard error within a minute; the rest of the "
      "minute is not logged",
      command_, kLoggedBytesPerMinute);
}

void RewardProgram::log_number_omitted() {
  if (omitted_lines_ == 0) return;
  log_.warn("{} of standard error of `{}` were not logged", counted(omitted_lines_, "line"),
            command_);
  omitted_lines_ = 0;
}

ProgramAnswer RewardProgram::parse(const std::string& line) {
  if (pending_.empty()) fail_answer(line, "no request is pending");
  ProgramAnswer answer;
  try {
    if (!std::string_view(line).substr(0, line.find_first_not_of(" \t") + 1).ends_with('{')) {
      fail("an answer is a JSON object; print everything else to standard error");
    }
    const JsonRow row = parse_json_row(line, "the answer");
    const auto id = row.integer("id");
    if (id && *id != pending_.front().id) {
      fail("id {} where {} is the next", *id, pending_.front().id);
    }
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
    for (const std::string& name : row.names()) add_number(row, name, answer);
  } catch (const Error& error) {
    fail_answer(line, error.what());
  }
  pending_.pop_front();
  return answer;
}

void RewardProgram::add_number(const JsonRow& row, const std::string& name, ProgramAnswer& answer) {
  const bool verifies = kind_ == Kind::kVerifier;
  if (name == "id" || name == "correct" || name == (verifies ? "answer" : "reward")) return;
  if (!is_name(name)) {
    fail("\"{}\" is not a valid name of a number: expected up to {} letters, digits and _", name,
         kMaxNameBytes);
  }
  const auto value = row.number(name);
  if (!value) return;
  names_.insert(name);
  if (names_.size() > kMaxNumbers) {
    fail("\"{}\" is the {}th name of a number in this run; at most {} are logged", name,
         names_.size(), kMaxNumbers);
  }
  answer.numbers.push_back({(verifies ? "verifier_" : "command_") + name, *value});
}

std::string RewardProgram::name_of(const PendingRequest& request) const {
  return fmt::format("request {} (step {}, problem {}, sample {})", request.id, request.step,
                     request.problem, request.sample);
}

std::string RewardProgram::how_it_ended() {
  const bool is_over = process_.ended().has_value();
  std::string end = process_.kill();
  if (!is_over && end.starts_with("was killed")) end = "closed its standard output or " + end;
  return fmt::format("{} and left {} unanswered, the first is {}", end,
                     counted(std::ssize(pending_), "request"), name_of(pending_.front()));
}

void RewardProgram::fail_program(const std::string& why) {
  process_.kill();
  log_standard_error();
  log_number_omitted();
  fail("{} `{}` {}; its last lines on standard error: {}", key_, command_, why,
       last_lines_.empty() ? "none" : fmt::format("{}", fmt::join(last_lines_, " | ")));
}

void RewardProgram::fail_answer(const std::string& line, const std::string& why) {
  const std::string request = pending_.empty() ? "no request" : name_of(pending_.front());
  fail_program(fmt::format("answered {} with \"{}\": {}", request, clipped(line), why));
}

}  // namespace lie
