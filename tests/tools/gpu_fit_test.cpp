// Whether roles fit into GPUs, and the settings with which they do.
#include "tools/run/config/gpu_fit.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <functional>
#include <sstream>

#include "common/base/error.h"
#include "common/io/json.h"
#include "tests/directories.h"
#include "tests/temporary_directory.h"
#include "tools/cluster/plan.h"

namespace lie {
namespace {

namespace fs = std::filesystem;
using testing::AllOf, testing::HasSubstr, testing::Not;

constexpr std::int64_t kGibibyte = std::int64_t{1} << 30;

RoleLayout two_hosts() {
  RoleLayout layout{.learners = {0}, .reward_workers = {1}, .actors = {2, 3, 4, 5}};
  for (const char* host : {"a", "a", "a", "b", "b", "b"}) layout.places.push_back({host, {}});
  return layout;
}

std::vector<RoleMemory> roles() {
  return {{"learner",
           {.parts = {{"weights", 40 * kGibibyte},
                      {.what = "copy", .bytes = 9 * kGibibyte, .on_host = true}}}},
          {"actor", {.parts = {{"KV cache", 30 * kGibibyte}}}}};
}

TEST(FullestGpu, AddsTheRolesThatShareIt) {
  // On host a the learner has GPU 0 and the actor GPU 1. Host b has three actors for two GPUs.
  const GpuUse two = fullest_gpu(two_hosts(), roles(), {.gpus = 2, .process_bytes = kGibibyte});
  EXPECT_EQ(two.actors, 2);
  EXPECT_EQ(two.learners, 0);
  EXPECT_EQ(two.bytes, 62 * kGibibyte);
  const GpuUse one = fullest_gpu(two_hosts(), roles(), {.gpus = 1});
  EXPECT_EQ(one.bytes, 90 * kGibibyte);
  const GpuUse three = fullest_gpu(two_hosts(), roles(), {.gpus = 3});
  EXPECT_EQ(three.learners, 1);
  EXPECT_EQ(three.bytes, 40 * kGibibyte);
  EXPECT_EQ(fullest_host(two_hosts(), roles()), 9 * kGibibyte);
}

/// Plans a config of configs/paper with a model that has the shapes of Qwen3.
class GpuPlan : public testing::Test {
 protected:
  void use(const std::string& name, const std::string& shape) {
    arguments_.config = std::string(source_directory()) + "/configs/paper/" + name + ".yaml";
    scratch_.write(
        "config.json",
        R"({"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "head_dim": 128, "num_key_value_heads": 8, )"
        R"("vocab_size": 151936, "rms_norm_eps": 1e-6, "rope_theta": 1e6, )"
        R"("max_position_embeddings": 40960, "hidden_act": "silu", )" +
            shape + "}");
    arguments_.overrides = {"run.directory=" + (scratch_.path() / "none").string(),
                            "model.path=" + scratch_.path().string(), "model.device=cuda"};
  }
  void use_4b() {
    use("qwen3-4b-base-gspo-lie",
        R"("hidden_size": 2560, "num_hidden_layers": 36, "num_attention_heads": 32, )"
        R"("intermediate_size": 9728, "tie_word_embeddings": true)");
  }
  /// Returns the plan's text and sets `error` if it is refused.
  std::string text() {
    std::ostringstream out;
    error_.clear();
    try {
      plan(arguments_, out);
    } catch (const Error& error) {
      error_ = error.what();
    }
    return out.str();
  }
  void set(const std::string& setting) { arguments_.overrides.push_back(setting); }

  TemporaryDirectory scratch_;
  PlanArguments arguments_;
  std::string error_;
};

TEST_F(GpuPlan, RefusesWhatDoesNotFitAndNamesTheSmallestChangeThatDoes) {
  use_4b();
  set("update.zero_stage=1");
  set("roles.placement=separate");
  arguments_.ranks = {9};
  EXPECT_THAT(text(), HasSubstr("--gpus-per-host and --gpu-gib check"));
  EXPECT_EQ(error_, "");
  arguments_.gpus_per_host = 8;
  arguments_.gpu_gib = 79;
  EXPECT_THAT(text(), HasSubstr("DOES NOT FIT"));
  EXPECT_THAT(error_, AllOf(HasSubstr("a GPU with 1 learner needs"), HasSubstr("of 79.0 GiB"),
                            HasSubstr("it fits with roles.learners=4")));
  set("roles.learners=4");
  EXPECT_THAT(text(), AllOf(HasSubstr("fits"), Not(HasSubstr("DOES NOT FIT"))));
  EXPECT_EQ(error_, "");
}

// The plan names several settings. With all of them the roles fit, and without any one they do not.
TEST_F(GpuPlan, NamesNoSettingThatIsNotNeeded) {
  use_4b();
  set("update.zero_stage=1");
  set("rollout.cache_mebibytes=40000");
  arguments_.ranks = {1};
  arguments_.gpus_per_host = 1;
  arguments_.gpu_gib = 79;
  text();
  ASSERT_THAT(error_, AllOf(HasSubstr("1 learner and 1 actor"), HasSubstr("it fits with ")));
  std::vector<std::string> settings;
  std::string rest = error_.substr(error_.find("it fits with ") + 13) + " and ";
  for (std::size_t end; (end = rest.find(" and ")) != std::string::npos;) {
    settings.push_back(rest.substr(0, end));
    rest.erase(0, end + 5);
  }
  EXPECT_EQ(settings.size(), 2U) << error_;
  const std::vector<std::string> before = arguments_.overrides;
  for (std::size_t without = 0; without <= settings.size(); ++without) {
    arguments_.overrides = before;
    for (std::size_t i = 0; i < settings.size(); ++i) {
      if (i != without) set(settings[i]);
    }
    text();
    EXPECT_EQ(error_.empty(), without == settings.size()) << error_;
  }
}

// A mebibyte more would leave less than a sixteenth of each GPU free.
TEST_F(GpuPlan, SizesTheCacheByWhatTheRolesLeave) {
  use_4b();
  arguments_.ranks = {8};
  arguments_.gpus_per_host = 8;
  arguments_.json = true;
  for (const std::int64_t gib : {40, 79}) {
    arguments_.gpu_gib = gib;
    const Json memory = Json::parse(text())["ranks"][0]["memory"];
    EXPECT_EQ(error_, "");
    const std::int64_t used = memory["learner"]["device_bytes"].get<std::int64_t>() +
                              memory["actor"]["device_bytes"].get<std::int64_t>() + kGibibyte;
    const std::int64_t allowed = gib * kGibibyte / 16 * 15;
    constexpr std::int64_t kPage = std::int64_t{36} * 2 * 8 * 16 * 128 * 2;  // bytes
    EXPECT_LE(used, allowed);
    EXPECT_GT(used, allowed - (1 << 20) - kPage);
  }
}

/// Plans the configs of a folder with the model that each is named after. `gib_of` returns the free
/// memory of a GPU that the config is meant for.
void expect_fit(const std::string& folder, std::int64_t ranks, std::int64_t gpus,
                const std::function<std::int64_t(const std::string& name)>& gib_of,
                std::size_t count) {
  const fs::path root = source_directory();
  std::size_t planned = 0;
  for (const auto& entry : fs::directory_iterator(root / "configs" / folder)) {
    if (entry.path().extension() != ".yaml") continue;
    const std::string name = entry.path().stem();
    const std::string model = name.find("octothinker") != name.npos
                                  ? "llama-3.2-3b"
                                  : name.substr(0, name.find("b") + 1);  // qwen3-4b-lora: qwen3-4b
    PlanArguments arguments;
    arguments.config = entry.path();
    arguments.overrides = {"model.path=" + (root / "tests/model/configs" / model).string()};
    arguments.ranks = {ranks};
    arguments.gpus_per_host = gpus;
    arguments.gpu_gib = gib_of(name);
    std::ostringstream out;
    EXPECT_EQ(error_of([&] { plan(arguments, out); }), "no error") << name;
    EXPECT_THAT(out.str(), HasSubstr("fits ")) << name;
    ++planned;
  }
  EXPECT_EQ(planned, count);
}

TEST(GpuConfigs, FitTheGpusThatTheyAreFor) {
  expect_fit(
      "one-node", 8, 8, [](const std::string&) { return 79; }, 8);
  expect_fit(
      "one-card", 1, 1, [](const std::string& name) { return name.ends_with("80gb") ? 79 : 22; },
      5);
  expect_fit(
      "paper", 8, 8, [](const std::string&) { return 79; }, 27);
}

TEST_F(GpuPlan, NoTwoRolesShareAGpuOnSeveralHosts) {
  use_4b();
  arguments_.gpus_per_host = 8;
  arguments_.gpu_gib = 79;
  arguments_.ranks = {36};
  arguments_.ranks_per_host = 9;
  set("update.gradient_shards=32");
  EXPECT_THAT(text(), HasSubstr("32 learners, each also an actor; 4 reward workers"));
  set("roles.placement=separate");
  EXPECT_THAT(text(), HasSubstr("4 learners and 28 actors; 4 reward workers"));
  set("roles.reward_workers=2");
  text();
  EXPECT_THAT(error_, HasSubstr("34 ranks with learners or actors have 32 GPUs to themselves"));
}

TEST_F(GpuPlan, SuggestsWeightsInSlicesWhereGradientsInSlicesAreNotEnough) {
  use("qwen3-8b-base-gspo-lie",
      R"("hidden_size": 5120, "num_hidden_layers": 64, "num_attention_heads": 64, )"
      R"("intermediate_size": 25600, "tie_word_embeddings": false)");  // 32B
  arguments_.gpus_per_host = 8;
  arguments_.gpu_gib = 79;
  arguments_.ranks = {36};
  arguments_.ranks_per_host = 9;
  set("roles.placement=separate");
  set("roles.learners=16");
  set("update.gradient_shards=16");
  set("update.zero_stage=2");
  set("rollout.cache_mebibytes=16000");
  text();
  EXPECT_THAT(error_, HasSubstr("a GPU with 1 learner needs"));
  EXPECT_THAT(error_, HasSubstr("it fits with update.zero_stage=3"));
  set("update.zero_stage=3");
  text();
  EXPECT_EQ(error_, "");
  set("roles.placement=colocated");
  text();
  EXPECT_THAT(error_, HasSubstr("set update.zero_stage to 2, or roles.placement to separate"));
}

// 4B on one GPU of 60 GiB: moments of 30 GiB leave no room for the rest.
TEST_F(GpuPlan, ProposesMomentsOnTheHostWhereNothingElseSuffices) {
  use_4b();
  arguments_.ranks = {1};
  arguments_.gpus_per_host = 1;
  arguments_.gpu_gib = 60;
  text();
  EXPECT_THAT(error_, HasSubstr("it fits with optimizer.moments_on=host"));
  set("optimizer.moments_on=host");
  text();
  EXPECT_EQ(error_, "");
}

TEST_F(GpuPlan, SaysWhereNoSettingIsKnownToFit) {
  use_4b();
  arguments_.ranks = {1};
  arguments_.gpu_gib = 24;
  text();
  EXPECT_THAT(error_, AllOf(HasSubstr("of 24.0 GiB"), HasSubstr("use more GPUs and ranks")));
}

}  // namespace
}  // namespace lie
