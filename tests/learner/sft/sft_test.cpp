#include "learner/sft/sft.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "common/base/error.h"
#include "learner/sft/sft_batches.h"
#include "tests/directories.h"
#include "tests/learner/sampled_groups.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

using test::LearnerTrainer, test::on_learners, test::relative_difference;

/// Returns rows whose response repeats the last token of the prompt, which is learned quickly.
std::vector<SftExample> rows_to_learn(std::size_t count) {
  std::vector<SftExample> examples;
  for (std::uint32_t i = 0; i < count; ++i) {
    SftExample example;
    example.prompt = test::random_ids(2 + i % 3, 500 + i);
    example.response.assign(1 + i % 6, example.prompt.back());
    example.response.push_back(1);
    examples.push_back(std::move(example));
  }
  return examples;
}

SftOptions options_of(std::int64_t steps) {
  SftOptions options;
  options.steps = steps;
  options.batch_sequences = 8;
  options.validate_every = 5;
  options.optimizer.learning_rate = 1e-2;
  options.optimizer.warmup = 2;
  return options;
}

struct Result {
  std::vector<float> weights;
  std::vector<SftProgress> progress;
};

Result tune(const SftOptions& options, Collective& learners, const fs::path& checkpoints = {},
            int threads = 1) {
  const auto examples = rows_to_learn(40), validation = rows_to_learn(5);
  const SftOptions scheduled = with_schedule(options, examples);
  LearnerTrainer learner(scheduled.trainer, scheduled.optimizer, learners,
                         make_cpu_operators(threads));
  Result result;
  run_sft(scheduled, learner.trainer,
          {examples, validation, checkpoints, "",
           [&](const SftProgress& progress) { result.progress.push_back(progress); }});
  result.weights = learner.weights();
  return result;
}

Result tune(const SftOptions& options, const fs::path& checkpoints = {}) {
  const auto alone = solo_collective();
  return tune(options, *alone, checkpoints);
}

TEST(Sft, LearnsTheResponses) {
  const Result result = tune(options_of(60));
  ASSERT_EQ(result.progress.size(), 60U);
  EXPECT_LT(result.progress.back().loss, 0.5 * result.progress.front().loss);
  EXPECT_LT(*result.progress.back().validation_loss, *result.progress[4].validation_loss);
  EXPECT_FALSE(result.progress[5].validation_loss);
}

TEST(Sft, AShortRunWithTheDefaultWarmUpHasAShorterOne) {
  const auto examples = rows_to_learn(40);
  SftOptions options;  // one epoch in two updates, after which the cosine ends
  EXPECT_EQ(with_schedule(options, examples).steps, 2);
  EXPECT_EQ(with_schedule(options, examples).optimizer.warmup, 0);
  options.steps = 100;
  EXPECT_EQ(with_schedule(options, examples).optimizer.warmup, 10);
  options.steps = 101;
  EXPECT_EQ(with_schedule(options, examples).optimizer.warmup, 100) << "as long as it fits";
  options.steps = 50;
  options.optimizer.warmup = 60;
  EXPECT_THROW(with_schedule(options, examples), Error) << "chosen, and contradicts the cosine";
  options.optimizer = {.schedule = Schedule::kConstant, .warmup = 100};
  EXPECT_EQ(with_schedule(options, examples).optimizer.warmup, 100) << "no contradiction";
}

TEST(Sft, IsBitIdenticalForAnyMicroBatchSize) {
  SftOptions options = options_of(4);
  const Result whole = tune(options);
  options.trainer.max_micro_batch_tokens = 9;
  const Result cut = tune(options);
  EXPECT_EQ(cut.weights, whole.weights);
  EXPECT_EQ(cut.progress[3].loss, whole.progress[3].loss);
}

TEST(Sft, IsBitIdenticalForAnyNumberOfLearnersAndThreads) {
  SftOptions options = options_of(5);
  options.optimizer.warmup = 0;
  const Result alone = tune(options);
  for (const auto& [count, threads] : {std::pair{2, 1}, {3, 1}, {8, 1}, {1, 3}, {2, 4}}) {
    on_learners(count, [&](Collective& learners) {
      const Result shared = tune(options, learners, {}, threads);
      EXPECT_EQ(shared.weights, alone.weights);
      for (std::size_t i = 0; i < alone.progress.size(); ++i) {
        EXPECT_EQ(shared.progress[i].loss, alone.progress[i].loss);
        EXPECT_EQ(shared.progress[i].validation_loss, alone.progress[i].validation_loss);
        EXPECT_EQ(shared.progress[i].optimizer.grad_norm, alone.progress[i].optimizer.grad_norm);
      }
    });
  }
}

TEST(Sft, AResumedRunIsBitIdentical) {
  const fs::path root = fs::path(build_directory()) / "tmp/sft_resume";
  fs::remove_all(root);
  SftOptions options = options_of(12);
  options.checkpoint.every = 5;
  const Result whole = tune(options, root / "whole");
  tune(options, root / "broken");
  fs::remove_all(root / "broken/step-000012");
  const Result resumed = tune(options, root / "broken");
  EXPECT_EQ(resumed.progress.front().step, 11);
  EXPECT_EQ(resumed.weights, whole.weights);
  EXPECT_EQ(resumed.progress.back().loss, whole.progress.back().loss);
  for (const int count : {2, 3, 2}) {
    fs::remove_all(root / "broken/step-000012");
    on_learners(count, [&](Collective& learners) {
      EXPECT_EQ(tune(options, learners, root / "broken").weights, whole.weights) << count;
    });
  }
  options.seed = 1;
  EXPECT_THROW(tune(options, root / "whole"), Error);
  fs::remove_all(root);
}

TEST(Sft, ADivergedRunSavesNothing) {
  const fs::path root = fs::path(build_directory()) / "tmp/sft_diverged";
  fs::remove_all(root);
  SftOptions options = options_of(1);  // no later step shows the effect of its update
  options.optimizer.warmup = 0;
  options.optimizer.learning_rate = 1e38;
  EXPECT_NE(error_of([&] {
              tune(options, root);
            }).find("the run has diverged: the loss or gradient of step 1"),
            std::string::npos);
  EXPECT_TRUE(!fs::exists(root) || fs::is_empty(root));
  fs::remove_all(root);
}

TEST(Sft, ConstantDivisorScalesTheGradientOnly) {
  SftOptions options = options_of(1);
  options.optimizer.warmup = 0;
  const Result mean = tune(options);
  options.loss = SftLoss::kConstant;
  options.constant_divisor = 2.0 * static_cast<double>(mean.progress[0].tokens);
  const Result constant = tune(options);
  EXPECT_EQ(constant.progress[0].loss, mean.progress[0].loss);
  EXPECT_NEAR(constant.progress[0].optimizer.grad_norm, mean.progress[0].optimizer.grad_norm / 2,
              1e-6 * mean.progress[0].optimizer.grad_norm);
}

TEST(SftBatches, ContainEveryRowOncePerEpochInANewOrder) {
  const auto examples = rows_to_learn(41);
  const SftOptions options = options_of(0);
  std::vector<std::size_t> orders[2];
  for (const std::int64_t epoch : {0, 1}) {
    auto& order = orders[epoch];
    for (const auto& batch : sft_batches(examples, options, epoch)) {
      EXPECT_LE(batch.size(), 8U);
      order.insert(order.end(), batch.begin(), batch.end());
    }
    EXPECT_EQ(order.size(), 41U);
  }
  EXPECT_NE(orders[0], orders[1]);
  for (auto& order : orders) std::sort(order.begin(), order.end());
  EXPECT_EQ(orders[0], orders[1]);
  EXPECT_EQ(std::unique(orders[0].begin(), orders[0].end()), orders[0].end());
}

TEST(SftBatches, EndBeforeMaxBatchTokensIsExceeded) {
  const auto examples = rows_to_learn(41);
  SftOptions options = options_of(0);
  options.max_batch_tokens = 25;
  for (const auto& batch : sft_batches(examples, options, 0)) {
    std::int64_t tokens = 0;
    for (const auto i : batch) {
      tokens += SequenceTokens{examples[i].prompt, examples[i].response}.tokens();
    }
    EXPECT_LE(tokens, 25);
  }
}

class SftRows : public ::testing::Test {
 protected:
  std::vector<SftExample> load(std::string_view text, std::int64_t max_tokens = 0) {
    const fs::path path = fs::path(build_directory()) / "sft_data.jsonl";
    std::ofstream(path) << text;
    const Encode bytes = [](std::string_view s) {
      return std::vector<std::int32_t>(s.begin(), s.end());
    };
    encoding.encode = bytes;
    SftData data = load_sft_examples(path, options, encoding, max_tokens);
    skipped = data.skipped;
    remarks = data.remarks;
    return std::move(data.examples);
  }
  std::string error_of(std::string_view text, std::int64_t max_tokens = 0) {
    try {
      load(text, max_tokens);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  static std::string text(std::span<const std::int32_t> ids) { return {ids.begin(), ids.end()}; }

  SftRowOptions options;
  SftEncoding encoding{.encode = {}, .prompt = {}, .response = {}, .end_of_sequence = 99};
  std::vector<std::string> skipped, remarks;
};

TEST_F(SftRows, LearnEveryAssistantTurnAfterTheMessagesBeforeIt) {
  encoding.end_of_sequence.reset();
  encoding.prompt = [](std::span<const ChatMessage> messages) {
    std::string rendered;
    for (const ChatMessage& m : messages) rendered += m.role.substr(0, 1) + ":" + m.content + "|";
    return rendered + "a:";
  };
  encoding.response = [](std::span<const ChatMessage>, const ChatMessage& answer) {
    return answer.content + "|";
  };
  const auto examples =
      load(R"({"messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "q"},)"
           R"( {"role": "assistant", "content": "r"}, {"role": "user", "content": "p"},)"
           R"( {"role": "assistant", "content": "t"}]})"
           "\n"
           R"({"prompt": [{"role": "user", "content": "x"}], "response": "y"})"
           "\n"
           R"({"prompt": "z", "response": "w"})");
  ASSERT_EQ(examples.size(), 4U);
  EXPECT_EQ(text(examples[0].prompt), "s:S|u:q|a:");
  EXPECT_EQ(text(examples[0].response), "r|");
  EXPECT_EQ(text(examples[1].prompt), "s:S|u:q|a:r|u:p|a:");
  EXPECT_EQ(text(examples[1].response), "t|");
  EXPECT_EQ(text(examples[2].prompt), "u:x|a:");
  EXPECT_EQ(text(examples[3].prompt), "u:z|a:");
  EXPECT_EQ(text(examples[3].response), "w|");
}

TEST_F(SftRows, BadConversationsAreReportedOrSkipped) {
  const std::string good = R"({"prompt": "ab", "response": "c"})"
                           "\n";
  const std::string no_assistant = R"({"messages": [{"role": "user", "content": "q"}]})"
                                   "\n";
  const std::string two_assistants =
      R"({"messages": [{"role": "user", "content": "q"},)"
      R"( {"role": "assistant", "content": "r"}, {"role": "assistant", "content": "s"}]})"
      "\n";
  EXPECT_NE(
      error_of(good + no_assistant).find("sft_data.jsonl:2: field messages has no assistant turn"),
      std::string::npos);
  EXPECT_NE(error_of(two_assistants).find("does not follow a user turn"), std::string::npos);
  options.skip_bad_rows = true;
  EXPECT_EQ(load(no_assistant + good + two_assistants + "{\n").size(), 1U);
  EXPECT_EQ(skipped.size(), 3U);
  EXPECT_NE(error_of(no_assistant).find("every row is bad"), std::string::npos);
}

TEST_F(SftRows, ResponsesEndWithEndOfSequence) {
  const auto examples = load(R"({"prompt": "ab", "response": "c"})");
  ASSERT_EQ(examples.size(), 1U);
  EXPECT_EQ(examples[0].prompt, (std::vector<std::int32_t>{'a', 'b'}));
  EXPECT_EQ(examples[0].response, (std::vector<std::int32_t>{'c', 99}));
}

TEST_F(SftRows, ResponsesMayBeCalledCompletion) {
  const auto examples = load(R"({"prompt": "ab", "completion": "c"})");
  ASSERT_EQ(examples.size(), 1U);
  EXPECT_EQ(examples[0].response, (std::vector<std::int32_t>{'c', 99}));
}

TEST_F(SftRows, BadRowsAreReportedWithTheirPlace) {
  const std::string good = R"({"prompt": "ab", "response": "c"})";
  EXPECT_NE(error_of(good + "\n{\"prompt\": \"ab\", \"output\": \"c\"}")
                .find("sft_data.jsonl:2: no field response; the row has output, prompt; set "
                      "data.response_field"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"prompt": "", "response": "c"})").find(":1"), std::string::npos);
  EXPECT_NE(error_of(good, 3).find("4 tokens"), std::string::npos);
}

/// Rows of data with a plain template, whose ends are "E" (99) and "F" (98).
class SftEnds : public SftRows {
 protected:
  SftEnds() { encoding.ends = {{"<E>", 99}, {"<F>", 98}}; }
  std::string response(const std::string& fields) {
    const auto examples = load(R"({"prompt": "ab", )" + fields + "}");
    std::string shown;
    for (const std::int32_t id : examples.at(0).response) {
      shown += id == 99 ? "<E>" : id == 98 ? "<F>" : std::string(1, static_cast<char>(id));
    }
    return shown;
  }
};

TEST_F(SftEnds, AResponseEndsOnce) {
  EXPECT_EQ(response(R"("response": "1")"), "1<E>");
  EXPECT_EQ(response(R"("response": "1<E>")"), "1<E>");
  EXPECT_EQ(response(R"("response": "1 <E>\n")"), "1 <E>");
  EXPECT_EQ(response(R"("response": "1<E><E>")"), "1<E>");
  EXPECT_EQ(response(R"("response": "1<F>")"), "1<F>") << "the data's own end";
  encoding.end_of_sequence.reset();
  EXPECT_EQ(response(R"("response": "1<E>")"), "1<E>");
  EXPECT_EQ(response(R"("response": "1")"), "1");
  encoding.response = [](std::span<const ChatMessage>, const ChatMessage& answer) {
    return answer.content + "<F>";
  };
  encoding.end_of_turn = "<F>";
  EXPECT_EQ(response(R"("response": "1<F>")"), "1<F>") << "as text, which the encoder here keeps";
  EXPECT_EQ(response(R"("response": "1<E>")"), "1<F>") << "the template's end";
}

TEST_F(SftEnds, CutResponsesGetNoEnd) {
  for (const char* field :
       {R"("finish": "length")", R"("finish_reason": "length")", R"("stop_reason": "max_tokens")",
        R"("finishReason": "MAX_TOKENS")", R"("truncated": true)",
        R"("meta_info": {"finish_reason": {"type": "length"}})"}) {
    EXPECT_EQ(response(fmt::format(R"("response": "1+", {})", field)), "1+") << field;
    EXPECT_NE(remarks.at(0).find("cut off by a limit"), std::string::npos);
  }
  EXPECT_EQ(response(R"("response": "1", "finish_reason": "stop")"), "1<E>");
  EXPECT_EQ(response(R"("response": "1<E>", "finish": "length")"), "1<E>");
  encoding.response = [](std::span<const ChatMessage>, const ChatMessage& answer) {
    return answer.content + "<F>";
  };
  encoding.end_of_turn = "<F>";
  EXPECT_EQ(response(R"("response": "1+", "finish": "length")"), "1+");
}

TEST_F(SftEnds, EndsOfOtherModelsAreReported) {
  response(R"("response": "1</s>\n")");
  EXPECT_EQ(remarks, std::vector<std::string>{"1 of 1 responses end with </s>, which is text to "
                                              "this model, not its end; remove it from the rows"});
  encoding.ends.push_back({"</s>", 97});
  load(R"({"prompt": "ab", "response": "1</s>"})");
  EXPECT_NE(remarks.at(0).find("end with an end of sequence already"), std::string::npos);
}

TEST_F(SftRows, FieldsOfMessagesWithoutAMeaningAreReported) {
  load(R"({"messages": [{"role": "user", "content": "a", "id": 7},)"
       R"( {"role": "assistant", "content": "b", "mask": 0, "finish_reason": "stop"}]})");
  EXPECT_EQ(remarks, std::vector<std::string>{
                         "1 of 1 rows have the field messages[].mask, which is not read"});
  EXPECT_EQ(load(R"({"system": "S", "messages": [{"role": "system", "content": "S"},)"
                 R"( {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]})")
                .size(),
            1U)
      << "the messages hold the system prompt already";
}

TEST_F(SftEnds, EmptyResponsesAreRefused) {
  for (const char* text : {"", " \\n", "<E>", "<E> <F>\\n"}) {
    EXPECT_NE(error_of(fmt::format(R"({{"prompt": "a", "response": "{}"}})", text))
                  .find("the response is empty"),
              std::string::npos)
        << text;
  }
}

TEST_F(SftRows, TurnsMarkedAsNotLearnedAreOnlyPartOfPrompts) {
  const auto conversation = [](const std::string& first, const std::string& second) {
    return R"({"messages": [{"role": "user", "content": "q"},)"
           R"({"role": "assistant", "content": "r")" +
           first + R"(}, {"role": "user", "content": "p"}, {"role": "assistant", "content": "t")" +
           second + "}]}\n";
  };
  for (const char* mark :
       {"\"weight\": 0", "\"train\": false", "\"loss_mask\": 0", "\"loss\": 0.0"}) {
    const auto examples = load(conversation(std::string(", ") + mark, ""));
    ASSERT_EQ(examples.size(), 1U) << mark;
    EXPECT_EQ(text(examples[0].prompt), "q\n\nr\n\np");
  }
  EXPECT_EQ(load(conversation(R"(, "weight": 1)", "")).size(), 2U);
  const auto expect_error = [&](const std::string& rows, const char* why) {
    EXPECT_NE(error_of(rows).find(why), std::string::npos) << error_of(rows);
  };
  expect_error(conversation(R"(, "weight": 0)", R"(, "train": false)"), "nothing to learn");
  expect_error(conversation(R"(, "weight": 0.5)", ""), "field weight: expected 0 or 1");
  expect_error(conversation(R"(, "weight": 0, "train": true)", ""), "says the opposite");
  expect_error(R"({"messages": [{"role": "user", "content": "q", "train": true},)"
               R"({"role": "assistant", "content": "r"}]})",
               "only assistant turns");
}

TEST_F(SftRows, ReasoningBesideAConversationIsRefused) {
  encoding.response = [](std::span<const ChatMessage>, const ChatMessage& answer) {
    return answer.reasoning + answer.content;
  };
  const auto row = [](const std::string& content, const std::string& fields = "") {
    return R"({"reasoning_content": "1+1", "messages": [{"role": "user", "content": "q"},)"
           R"( {"role": "assistant", "content": ")" +
           content + "\"" + fields + "}]}\n";
  };
  EXPECT_NE(
      error_of(row("2")).find("sft_data.jsonl:1: field reasoning_content: it is not rendered"),
      std::string::npos);
  EXPECT_NE(error_of(row("It is 1+1.")), "") << "not a thought of the turn";
  EXPECT_EQ(error_of(row("<think>1+1</think>2")), "");
  EXPECT_EQ(error_of(row("2", R"(, "reasoning": "1+1")")), "");
  EXPECT_EQ(text(load(R"({"prompt": "q", "response": "It is 5.", "reasoning_content": "5"})")
                     .at(0)
                     .response)
                .substr(0, 9),
            "5It is 5.")
      << "the content contains the same text";
}

TEST_F(SftRows, FieldsThatATrainerWouldUseAreRefusedByName) {
  const auto expect_error = [&](const std::string& field, const std::string& why) {
    const std::string error = error_of(R"({"prompt": "a", "response": "b", )" + field + "}");
    EXPECT_NE(error.find(why), std::string::npos) << field << ": " << error;
  };
  expect_error(R"("tools": [{"name": "add"}])", "field tools");
  expect_error(R"("images": ["a.png"])", "field images");
  expect_error(R"("system": "Be brief.")", "field system");
  expect_error(R"("weight": 0)", "weight 0");
  expect_error(R"("loss_mask": [0, 1])", "field loss_mask");
  expect_error(R"("completion_mask": [0, 1])", "field completion_mask");
  expect_error(R"("label": false)", "field label");
  expect_error(R"("reasoning_content": "1+1")", "reasoning");
  EXPECT_EQ(load(R"({"prompt": "a", "response": "b", "tools": [], "images": null, "weight": 1,)"
                 R"( "system": "", "id": 7, "label": true})")
                .size(),
            1U);
  options.prompt_field = "instruction";
  EXPECT_NE(error_of(R"({"instruction": "a", "input": "x", "response": "b"})").find("field input"),
            std::string::npos);
}

}  // namespace
}  // namespace lie
