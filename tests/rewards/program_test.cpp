// Tests the protocol of reward programs with one-line programs.
#include "rewards/program.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "common/base/error.h"
#include "common/process/stop_signals.h"
#include "rewards/score.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

using Kind = RewardProgram::Kind;

/// Returns a Python program that answers each request `q` with the value of the given expression.
std::string python(const std::string& answer) {
  return "python3 -uc '\nimport json, sys\nfor line in sys.stdin:\n  q = json.loads(line)\n  "
         "print(" +
         answer + ")'";
}

struct Example {
  Ticket ticket{.step = 3, .group = 2, .samples = 1, .prompt = {}};
  Response response;
  std::string text = "It is \\boxed{4}.";

  Example() {
    ticket.prompt = {.problem = 41,
                     .text = "2 \"+\" 2?\n",
                     .gold = "4",
                     .data_source = "sums",
                     .reference_length = 10,
                     .row = R"({"extra":{"hint":[1,2]},"gold":"4"})"};
    response.ids.assign(5, 7);
    response.finish = FinishReason::kEndOfSequence;
  }
  ProgramRequest request(std::size_t sample = 0, const Score* score = nullptr) const {
    return {ticket, response, sample, text, score};
  }
};

ProgramAnswer ask_once(Kind kind, const std::string& command) {
  const Example example;
  RewardProgram program(kind, command, {});
  program.send(example.request());
  return program.receive();
}

std::string error_in(const std::string& command, Kind kind = Kind::kReward) {
  return error_of([&] { ask_once(kind, command); });
}

#define EXPECT_HOLDS(text, part) \
  EXPECT_NE((text).find(part), std::string::npos) << "no \"" << (part) << "\" in: " << (text)

TEST(RewardProgram, RequestsDescribeTheResponse) {
  const Example example;
  Score score;
  score.verdict = VerdictCode::kUnequal;
  score.extracted = "5";
  RewardProgram program(
      Kind::kReward,
      python(R"(json.dumps({"reward": 1.0 if q == {"id": 0, "step": 3, "purpose": "train", )"
             R"("group": 2, "sample": 6, "problem": {"extra": {"hint": [1, 2]}, "gold": "4"}, )"
             R"("prompt": "2 \"+\" 2?\n", "gold": "4", "data_source": "sums", )"
             R"("response": "It is \\boxed{4}.", "tokens": 5, "finish": "end_of_sequence", )"
             R"("verdict": "unequal", "answer": "5"} else 0.0}))"),
      {});
  program.send(example.request(6, &score));
  EXPECT_EQ(program.receive().reward, 1.0F);
  program.finish();
}

TEST(RewardProgram, AnswersWithRewardVerdictAndNumbers) {
  const ProgramAnswer answer = ask_once(
      Kind::kReward,
      python(
          R"(json.dumps({"id": q["id"], "reward": -0.25, "correct": True, "seconds": 1.5, "n": 2}))"));
  EXPECT_EQ(answer.reward, -0.25F);
  EXPECT_EQ(answer.correct, true);
  ASSERT_EQ(answer.numbers.size(), 2U);
  EXPECT_EQ(answer.numbers[0].name, "command_n");
  EXPECT_EQ(answer.numbers[1].name, "command_seconds");
  EXPECT_EQ(answer.numbers[1].value, 1.5);
}

TEST(RewardProgram, VerifierAnswersSetTheVerdict) {
  const ProgramAnswer answer = ask_once(
      Kind::kVerifier, python(R"(json.dumps({"correct": False, "answer": "4", "sure": 0.5}))"));
  EXPECT_EQ(answer.correct, false);
  EXPECT_EQ(answer.answer, "4");
  EXPECT_EQ(answer.numbers.at(0).name, "verifier_sure");
}

TEST(RewardProgram, ManyLargeRequestsDoNotDeadlock) {
  Example example;
  example.text.assign(4 << 20, 'a');
  RewardProgram program(
      Kind::kReward, python(R"(json.dumps({"reward": len(q["response"]), "s": q["sample"]}))"), {});
  for (std::size_t i = 0; i < 6; ++i) program.send(example.request(i));
  for (std::size_t i = 0; i < 6; ++i) {
    const ProgramAnswer answer = program.receive();
    EXPECT_EQ(answer.reward, static_cast<float>(4 << 20));
    EXPECT_EQ(answer.numbers.at(0).value, static_cast<double>(i));
  }
  program.finish();
}

TEST(RewardProgram, InvalidUtf8IsReplaced) {
  Example example;
  example.text =
      "a\xff"
      "b";
  RewardProgram program(
      Kind::kReward, python(R"(json.dumps({"reward": 1 if q["response"] == "a\ufffdb" else 0}))"),
      {});
  program.send(example.request());
  EXPECT_EQ(program.receive().reward, 1.0F);
}

TEST(RewardProgram, StandardErrorIsLoggedLineByLine) {
  ::testing::internal::CaptureStderr();
  ask_once(Kind::kReward,
           "sh -c 'echo ready >&2; echo twice >&2; read line; echo {\\\"reward\\\":0}'");
  const std::string output = ::testing::internal::GetCapturedStderr();
  EXPECT_HOLDS(output, "[reward.command 0] ready\n");
  EXPECT_HOLDS(output, "[reward.command 0] twice\n");
}

TEST(RewardProgram, ErrorsOfMalformedAnswersNameRequestAndLine) {
  const std::string error = error_in("sh -c 'echo oh dear >&2; read line; echo nonsense; cat'");
  EXPECT_HOLDS(error, "reward.command");
  EXPECT_HOLDS(error, "request 0 (step 3, problem 41, sample 0)");
  EXPECT_HOLDS(error, "\"nonsense\"");
  EXPECT_HOLDS(error, "oh dear");
  EXPECT_HOLDS(error, "an answer is a JSON object; print everything else to standard error");
}

TEST(RewardProgram, InvalidAnswersAreRefused) {
  const auto answered = [](const std::string& line) {
    return error_in("sh -c 'read line; echo \"$0\"; cat' '" + line + "'");
  };
  EXPECT_HOLDS(answered(R"({"reward": NaN})"), "the answer");
  EXPECT_HOLDS(answered(R"({"reward": 1e300})"), "too large");
  EXPECT_HOLDS(answered(R"({"reward": "1"})"), "reward");
  EXPECT_HOLDS(answered(R"({"correct": true})"), "field reward is missing");
  EXPECT_HOLDS(answered(R"({"reward": 1, "correct": 1})"), "correct");
  EXPECT_HOLDS(answered(R"({"reward": 1, "id": 1})"), "id 1 where 0 is the next");
  EXPECT_HOLDS(answered(R"({"reward": 1, "a b": 1})"), "\"a b\" is not a valid name");
  EXPECT_HOLDS(answered(R"({"reward": 1, "why": "so"})"), "why");
  EXPECT_HOLDS(answered("[1]"), "JSON object");
  EXPECT_HOLDS(error_in("sh -c 'read line; echo {}; cat'", Kind::kVerifier),
               "field correct is missing");
}

TEST(RewardProgram, SkippedRequestsAreDetectedByTheirIds) {
  const Example example;
  RewardProgram program(Kind::kReward,
                        python(R"(json.dumps({"id": q["id"] + (q["id"] > 0), "reward": 0}))"), {});
  program.send(example.request(0));
  program.send(example.request(1));
  program.receive();
  EXPECT_HOLDS(error_of([&] { program.receive(); }), "id 2 where 1 is the next");
}

TEST(RewardProgram, TooManyNumbersAreRefused) {
  EXPECT_HOLDS(
      error_in(python(R"(json.dumps({"reward": 0, **{"n%d" % i: 1 for i in range(65)}}))")),
      "at most 64");
}

TEST(RewardProgram, EarlyExitsAreReportedWithTheMissingAnswers) {
  const std::string error = error_in("sh -c 'echo no such module >&2; exit 3'");
  EXPECT_HOLDS(error, "exited with status 3 and left 1 request unanswered, the first is request 0");
  EXPECT_HOLDS(error, "problem 41");
  EXPECT_HOLDS(error, "no such module");
  EXPECT_HOLDS(error_in("/no/such/program"), "status 127");
}

TEST(RewardProgram, ClosingItsOutputIsAnError) {
  EXPECT_HOLDS(error_in("sh -c 'exec >/dev/null; tail -f /dev/null'"),
               "closed its standard output or");
}

TEST(RewardProgram, UnrequestedAnswersAreAnError) {
  RewardProgram program(Kind::kReward, "sh -c 'echo {}; cat'", {});
  EXPECT_HOLDS(error_of([&] { program.finish(); }), "no request is pending");
}

TEST(RewardProgram, WaitsPollProgressAndWarn) {
  const Example example;
  int polls = 0;
  const auto poll_progress = [&polls] {
    if (++polls == 3) fail("another rank has failed");
  };
  ::testing::internal::CaptureStderr();
  RewardProgram program(Kind::kReward, "tail -f /dev/null",
                        {.rank = 5, .poll_progress = poll_progress, .patience_seconds = 0});
  program.send(example.request());
  EXPECT_EQ(error_of([&] { program.receive(); }), "another rank has failed");
  const std::string output = ::testing::internal::GetCapturedStderr();
  EXPECT_HOLDS(output, "[reward.command 5] warning: ");
  EXPECT_HOLDS(output, "request 0 (step 3, problem 41, sample 0)");
}

TEST(RewardProgram, TheTimeLimitIsAnErrorThatNamesTheRequest) {
  ScoringOptions options;
  options.rewards.command = "tail -f /dev/null";
  options.rewards.command_time_limit_seconds = 0.01;
  const Example example;
  Scorer scorer(options);
  const std::string error = error_of([&] {
    scorer.score(example.ticket, {&example.response, 1}, {&example.text, 1});
  });
  EXPECT_HOLDS(error, "reward.command `tail -f /dev/null` has not answered request 0 (step 3");
  EXPECT_HOLDS(error, "within reward.command_time_limit_seconds 0.01");
}

TEST(RewardProgram, AProgramThatStaysAfterItsLastAnswerIsKilled) {
  // It answers nothing and ignores the end of its input.
  RewardProgram program(Kind::kReward, "tail -f /dev/null", {.time_limit_seconds = 0.01});
  ::testing::internal::CaptureStderr();
  program.finish();
  EXPECT_HOLDS(::testing::internal::GetCapturedStderr(),
               "does not exit although its standard input is closed; it is killed");
  const auto stop_while_it_waits = [] {
    note_stop_signals();
    bool is_stopped = false;
    const auto stop_once = [&] {
      if (!std::exchange(is_stopped, true)) ::raise(SIGTERM);
    };
    RewardProgram staying(Kind::kReward, "tail -f /dev/null", {.poll_progress = stop_once});
    staying.finish();
    std::_Exit(0);
  };
  EXPECT_EXIT(stop_while_it_waits(), ::testing::ExitedWithCode(0), "it is killed");
}

TEST(RewardProgram, AStopSaysForWhichProgramItWaits) {
  const Example example;
  const auto wait_after_a_signal = [&] {
    note_stop_signals();
    RewardProgram program(Kind::kReward, "tail -f /dev/null", {.time_limit_seconds = 0.01});
    program.send(example.request());
    ::raise(SIGTERM);
    const std::string error = error_of([&] { program.receive(); });
    std::fprintf(stderr, "%s\n", error.c_str());
    std::_Exit(error.empty() ? 1 : 0);
  };
  EXPECT_EXIT(wait_after_a_signal(), ::testing::ExitedWithCode(0),
              "waiting for the answer of `tail -f /dev/null` to request 0 .*; a second SIGTERM");
}

/// Scores one response as a reward worker does.
Score score_with(const ScoringOptions& options, Purpose purpose = Purpose::kTrain) {
  Example example;
  example.ticket.purpose = purpose;
  Scorer scorer(options);
  Score score = scorer.score(example.ticket, {&example.response, 1}, {&example.text, 1}).front();
  scorer.finish();
  return score;
}

TEST(Score, AProgramReadsTheNumbersOfTheSamples) {
  ScoringOptions options;
  options.rewards.command = python(R"(json.dumps({"reward": q["sample"]}))");
  const Example example;
  const std::vector<Response> responses = {example.response, example.response};
  const std::vector<std::string> texts = {example.text, example.text};
  Scorer scorer(options);
  const auto rewards = [&](std::span<const std::size_t> samples) {
    std::vector<float> found;
    for (const Score& score : scorer.score(example.ticket, responses, texts, samples)) {
      found.push_back(score.rewards.back());
    }
    return found;
  };
  EXPECT_EQ(rewards({}), (std::vector<float>{0, 1}));
  EXPECT_EQ(rewards(std::vector<std::size_t>{4, 7}), (std::vector<float>{4, 7}));
}

TEST(Score, TheProgramsTermIsLastAndItsVerdictAffectsOtherTerms) {
  ScoringOptions options;
  options.rewards.command = python(
      R"(json.dumps({"reward": 0.5, "correct": q["verdict"] != "equal", "tokens": q["tokens"]}))");
  const Score score = score_with(options);
  EXPECT_EQ(score.verdict, VerdictCode::kUnequal);
  const RewardNames names = reward_names(options.rewards);
  ASSERT_EQ(score.rewards.size(), names.size());
  EXPECT_EQ(names.back().name, "command");
  EXPECT_EQ(score.rewards.back(), 0.5F);
  EXPECT_EQ(score.rewards[0], 0.0F);  // R_acc
  EXPECT_LT(score.rewards[1], 0.0F);  // R_len
  EXPECT_EQ(score.numbers.at(0).name, "command_tokens");
}

TEST(Score, EvaluationsUseTheProgramsVerdictButNotItsReward) {
  ScoringOptions options;
  options.rewards.command = python(R"(json.dumps({"reward": 0.5, "correct": False}))");
  const Score score = score_with(options, Purpose::kEvaluate);
  EXPECT_EQ(score.verdict, VerdictCode::kUnequal);
  EXPECT_EQ(score.reward(), 0.0F);
}

TEST(Score, VerifierProgramsReplaceTheBuiltInVerifier) {
  ScoringOptions options;
  options.verifier_program.command = python(
      R"(json.dumps({"correct": "verdict" not in q and q["gold"] == "4", "answer": "four"}))");
  options.rewards.command = python(
      R"(json.dumps({"reward": 1 if (q["verdict"], q["answer"]) == ("equal", "four") else 0}))");
  const Score score = score_with(options);
  EXPECT_EQ(score.verdict, VerdictCode::kEqual);
  EXPECT_EQ(score.extracted, "four");
  EXPECT_EQ(score.rewards.back(), 1.0F);
}

}  // namespace
}  // namespace lie
