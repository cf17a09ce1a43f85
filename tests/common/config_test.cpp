#include "common/config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/temporary_directory.h"

namespace lie {
namespace {

enum class Algorithm { kGrpo, kGspo };

struct InnerOptions {
  double rate = 0.1;
  std::vector<std::string> names = {"a", "b"};
};

struct LossOptions {
  Algorithm algorithm = Algorithm::kGspo;
  InnerOptions inner;
  double clip_low = 0.2;
};

struct RunOptions {
  std::int64_t seed = 1;
  bool shuffle = true;
  std::string name = "run";
  std::vector<std::int64_t> budgets = {4096, 8192};
  std::vector<std::string> files;
  LossOptions policy_loss;
  std::string last;
};

void describe(FieldList& fields, InnerOptions& options) {
  fields.add("rate", options.rate, {.help = "Rate.", .unit = "1/step", .min = 0});
  fields.add("names", options.names, {"Names."});
}

void describe(FieldList& fields, LossOptions& options) {
  fields.add("algorithm", options.algorithm,
             {{"grpo", Algorithm::kGrpo}, {"gspo", Algorithm::kGspo}}, {"Policy loss."});
  fields.section("inner", options.inner);
  fields.add("clip_low", options.clip_low, {.help = "Lower clip.", .min = 0, .max = 1});
}

void describe(FieldList& fields, RunOptions& options) {
  fields.add("seed", options.seed, {.help = "Seed.", .min = 0});
  fields.add("shuffle", options.shuffle, {"Shuffle."});
  fields.add("name", options.name, {"Name."});
  fields.add("budgets", options.budgets, {.help = "Budgets.", .unit = "tokens", .min = 1});
  fields.add_one_or_more("files", options.files, {.help = "Files.", .unit = "path"});
  fields.section("policy_loss", options.policy_loss);
  fields.add("last", options.last, {"Last."});
}

struct Config : ::testing::Test {
  Config() { describe(fields, options); }

  std::string load(const std::string& yaml, std::vector<std::string> overrides = {}) {
    const auto path = scratch.write("c.yaml", yaml);
    std::string message = error_of([&] { load_config(fields, path, overrides); });
    const std::string directory = scratch.path().string() + "/";
    for (std::size_t at; (at = message.find(directory)) != std::string::npos;) {
      message.erase(at, directory.size());
    }
    return message;
  }

  TemporaryDirectory scratch;
  RunOptions options;
  FieldList fields;
};

TEST_F(Config, SetsValuesOfEveryKind) {
  ASSERT_EQ(load("seed: 42\n"
                 "shuffle: false\n"
                 "name: \"x: y\"\n"
                 "budgets: [1, 2, 3]\n"
                 "policy_loss:\n"
                 "  algorithm: grpo\n"
                 "  clip_low: 3e-4\n"
                 "  inner:\n"
                 "    rate: 1\n"
                 "    names:\n"
                 "      - one\n"
                 "      - two words\n"),
            "no error");
  EXPECT_EQ(options.seed, 42);
  EXPECT_FALSE(options.shuffle);
  EXPECT_EQ(options.name, "x: y");
  EXPECT_EQ(options.budgets, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(options.policy_loss.algorithm, Algorithm::kGrpo);
  EXPECT_EQ(options.policy_loss.clip_low, 3e-4);
  EXPECT_EQ(options.policy_loss.inner.rate, 1);
  EXPECT_EQ(options.policy_loss.inner.names, (std::vector<std::string>{"one", "two words"}));
}

TEST_F(Config, TheLastOverrideWins) {
  ASSERT_EQ(load("seed: 1\n", {"seed=2", "seed=3", "budgets=[5,6]", "policy_loss.inner.names=p, q",
                               "name=a=b: c"}),
            "no error");
  EXPECT_EQ(options.seed, 3);
  EXPECT_EQ(options.budgets, (std::vector<std::int64_t>{5, 6}));
  EXPECT_EQ(options.policy_loss.inner.names, (std::vector<std::string>{"p", "q"}));
  EXPECT_EQ(options.name, "a=b: c");
}

TEST_F(Config, FilesCanExtendOthers) {
  std::filesystem::create_directories(scratch.path() / "parts");
  scratch.write("parts/deep.yaml", "seed: 5\nname: deep\nbudgets: [1, 2]\n");
  scratch.write("parts/one.yaml", "base: deep.yaml\nname: one\npolicy_loss: {clip_low: 0.5}\n");
  scratch.write("parts/two.yaml", "policy_loss: {inner: {rate: 3}}\n");
  EXPECT_EQ(load("base: [parts/one.yaml, parts/two.yaml]\nbudgets: [7]\n", {"last=end"}),
            "no error");
  EXPECT_EQ(options.seed, 5);
  EXPECT_EQ(options.name, "one");
  EXPECT_EQ(options.policy_loss.clip_low, 0.5);
  EXPECT_EQ(options.policy_loss.inner.rate, 3);
  EXPECT_EQ(options.budgets, std::vector<std::int64_t>{7});
  EXPECT_EQ(options.last, "end");
}

TEST_F(Config, OneOrMoreFieldsAcceptATextOrAList) {
  using Files = std::vector<std::string>;
  EXPECT_NE(dump_config(fields).find("\nfiles: \"\"\n"), std::string::npos);
  EXPECT_EQ(load("files: a.jsonl\n"), "no error");
  EXPECT_EQ(options.files, Files{"a.jsonl"});
  EXPECT_NE(dump_config(fields).find("\nfiles: a.jsonl\n"), std::string::npos);
  EXPECT_EQ(load("files: [a, b]\n"), "no error");
  EXPECT_NE(dump_config(fields).find("\nfiles: [a, b]\n"), std::string::npos);
  EXPECT_EQ(load("files: \"\"\n"), "no error");
  EXPECT_EQ(options.files, Files{});
  EXPECT_EQ(load("seed: 1\n", {"files=a, b: c"}), "no error");
  EXPECT_EQ(options.files, Files{"a, b: c"}) << "a list begins with a bracket";
  EXPECT_EQ(load("seed: 1\n", {"files=[a, b]"}), "no error");
  EXPECT_EQ(options.files, (Files{"a", "b"}));
  EXPECT_EQ(load("files: [a, \"\"]\n"),
            "c.yaml:1: files: expected texts, found an empty one; correct it, or leave the key out "
            "for the default ");
}

TEST_F(Config, PathsAreResolvedFromTheConfigsDirectoryFirst) {
  std::filesystem::create_directories(scratch.path() / "parts");
  scratch.write("beside.jsonl", "");
  scratch.write("parts/part.yaml", "files: [beside.jsonl, deep.jsonl]\nname: beside.jsonl\n");
  scratch.write("parts/deep.jsonl", "");
  EXPECT_EQ(load("files: [beside.jsonl, elsewhere.jsonl]\n"), "no error");
  const auto beside = [&](const char* name) { return (scratch.path() / name).string(); };
  EXPECT_EQ(options.files, (std::vector{beside("beside.jsonl"), std::string("elsewhere.jsonl")}));
  EXPECT_EQ(load("base: parts/part.yaml\n"), "no error");
  EXPECT_EQ(options.files, (std::vector{std::string("beside.jsonl"), beside("parts/deep.jsonl")}))
      << "next to the file that names it";
  EXPECT_EQ(options.name, "beside.jsonl") << "not a path, so it is unchanged";
  EXPECT_EQ(load("seed: 1\n", {"files=beside.jsonl"}), "no error");
  EXPECT_EQ(options.files, std::vector<std::string>{"beside.jsonl"}) << "not named by a config";
}

TEST_F(Config, VariablesInPathsAreRefused) {
  for (const char* path : {"$WORK/a", "${WORK}/a", "data/$USER.jsonl", "$_x", "$(pwd)/a"}) {
    const std::string text = path;
    EXPECT_THAT(load("files: [\"" + text + "\"]\n"),
                testing::HasSubstr(text + ": variables are not expanded in paths"));
    EXPECT_THAT(load("seed: 1\n", {"files=" + text}),
                testing::HasSubstr("--set files=" + text + ": files: "));
    EXPECT_THAT(load("base: \"" + text + "\"\n"), testing::HasSubstr("variables are not"));
  }
  EXPECT_THAT(load("files: [\"`pwd`/a\"]\n"), testing::HasSubstr("backticks are not run"));
  EXPECT_EQ(load("files: [a$, \"$1\"]\nname: $WORK\n"), "no error") << "no variables, no path";
}

TEST_F(Config, MergeKeysAreRefusedWithTheRemedy) {
  EXPECT_THAT(load("a: &common {rate: 1}\npolicy_loss:\n  <<: *common\n"),
              testing::HasSubstr("c.yaml:3: policy_loss.<<: merge keys (<<)"));
  EXPECT_THAT(load("policy_loss:\n  <<: {rate: 1}\n"),
              testing::AllOf(testing::HasSubstr("c.yaml:2: policy_loss.<<: merge keys (<<)"),
                             testing::HasSubstr("base: FILE")));
  EXPECT_THAT(load("<<: {seed: 1}\n"), testing::HasSubstr("c.yaml:1: <<: merge keys"));
}

TEST_F(Config, TildesInPathsExpandToTheHomeDirectory) {
  const char* home = std::getenv("HOME");
  const std::string before = home == nullptr ? "" : home;
  ::setenv("HOME", scratch.path().c_str(), 1);
  scratch.write("common.yaml", "seed: 7\n");
  EXPECT_EQ(load("base: ~/common.yaml\nfiles: [~/a, b~]\nname: ~/c\n"), "no error");
  EXPECT_EQ(options.files, (std::vector{scratch.path().string() + "/a", std::string("b~")}));
  EXPECT_EQ(options.name, "~/c") << "not a path";
  EXPECT_EQ(load("seed: 1\n", {"files=~/d"}), "no error");
  EXPECT_EQ(options.files, std::vector{scratch.path().string() + "/d"});
  ::unsetenv("HOME");
  EXPECT_THAT(load("files: ~/a\n"), testing::HasSubstr("~/a: HOME is not set"));
  if (home != nullptr) ::setenv("HOME", before.c_str(), 1);
}

TEST_F(Config, InvalidBasesAreNamed) {
  EXPECT_EQ(
      load("seed: 1\nbase: absent.yaml\n"),
      "c.yaml:2: base: absent.yaml is neither next to this config nor in the working directory");
  EXPECT_EQ(load("seed: 1\nbase: {x: 1}\n"),
            "c.yaml:2: base: expected the path of a config, or a list of them");
  EXPECT_NE(load("base: " + std::string(300, 'a') + "\n").find("a is neither next to this config"),
            std::string::npos);
  scratch.write("bad.yaml", "sede: 1\n");
  EXPECT_NE(load("base: bad.yaml\n").find("bad.yaml:1: unknown key sede"), std::string::npos);
  EXPECT_NE(load("base: c.yaml\n").find("is there a cycle?"), std::string::npos);
}

TEST_F(Config, UnknownKeyErrorsNamePlaceAndNearestKey) {
  EXPECT_EQ(load("seed: 1\npolicy_loss:\n  clip_lo: 0.1\n"),
            "c.yaml:3: unknown key policy_loss.clip_lo; did you mean policy_loss.clip_low? --help "
            "all lists all keys");
  EXPECT_EQ(load("clip_low: 0.1\n"),
            "c.yaml:1: unknown key clip_low; did you mean policy_loss.clip_low? --help all lists "
            "all keys");
  EXPECT_EQ(load("seed: 1\npolicy_loss:\n  inner: {ames: [x]}\n"),
            "c.yaml:3: unknown key policy_loss.inner.ames; did you mean policy_loss.inner.names? "
            "--help all lists all keys");
  EXPECT_EQ(load("policy_loss:\n  low: 0.1\n"),
            "c.yaml:2: unknown key policy_loss.low; did you mean policy_loss.clip_low? --help "
            "all lists all keys");
  EXPECT_EQ(
      load("policy_los:\n  clip_low: 0.1\n"),
      "c.yaml:1: policy_los is not a section; did you mean policy_loss? --help all lists all keys");
  EXPECT_EQ(load("seed: 1\n", {"sed=2"}),
            "--set sed=2: unknown key sed; did you mean seed? --help all lists all keys");
}

TEST_F(Config, InvalidValueErrorsNamePlaceKeyExpectationAndRemedy) {
  EXPECT_EQ(load("policy_loss:\n  clip_low: 2\n"),
            "c.yaml:2: policy_loss.clip_low: expected a number, 0 to 1, found 2; correct it, or "
            "leave the key out for the default 0.2");
  EXPECT_EQ(
      load("seed: 99999999999999999999\n"),
      "c.yaml:1: seed: expected an integer, at least 0, found 99999999999999999999, which does "
      "not fit into 64 bits; correct it, or leave the key out for the default 1");
  EXPECT_EQ(load("policy_loss: {algorithm: ppo}\n"),
            "c.yaml:1: policy_loss.algorithm: expected one of grpo, gspo, found \"ppo\"; correct "
            "it, or leave the key out for the default gspo");
  EXPECT_EQ(load("shuffle: maybe\n"),
            "c.yaml:1: shuffle: expected true or false, found \"maybe\"; correct it, or leave the "
            "key out for the default true");
  EXPECT_EQ(load("budgets: [1, x]\n"),
            "c.yaml:1: budgets: expected an integer, at least 1, found \"x\"; correct it, or leave "
            "the key out for the default [4096, 8192]");
  EXPECT_EQ(load("policy_loss:\n  clip_low: .nan\n"),
            "c.yaml:2: policy_loss.clip_low: expected a finite number, 0 to 1, found \".nan\"; "
            "correct it, or leave the key out for the default 0.2");
  EXPECT_EQ(load("seed: 1\n", {"seed=-1"}),
            "--set seed=-1: seed: expected an integer, at least 0, found -1; correct it, or leave "
            "the key out for the default 1");
}

TEST_F(Config, InvalidShapesAreNamed) {
  EXPECT_EQ(load("seed: [1]\n"),
            "c.yaml:1: seed takes one value, found a list; remove the brackets");
  EXPECT_EQ(load("budgets: 5\n"), "c.yaml:1: budgets takes a list, found one value; write [value]");
  EXPECT_EQ(load("budgets: [[1]]\n"), "c.yaml:1: budgets must be a flat list; write [a, b, c]");
  EXPECT_EQ(load("policy_loss: 5\n"),
            "c.yaml:1: policy_loss is a section; put its keys under it, indented");
  EXPECT_EQ(load("seed:\n"),
            "c.yaml:1: seed has no value; give one (\"\" is the empty text) or remove the line");
  EXPECT_EQ(load("- a\n- b\n"), "c.yaml:1: expected \"key: value\" lines, as in configs/");
  EXPECT_EQ(load("[a, b]: 1\n"), "c.yaml:1: a key must be a plain name; write \"name: value\"");
  EXPECT_EQ(load("seed: {a: 1}\n"),
            "c.yaml:1: seed is not a section of this command; its sections are policy_loss, "
            "policy_loss.inner; --help all lists all keys");
  EXPECT_EQ(load("seed: 1\n", {"seed"}), "--set seed: expected key=value");
  EXPECT_EQ(load("seed: 1\n", {"=3"}), "--set =3: expected key=value");
}

TEST_F(Config, DuplicateKeysAreRefused) {
  EXPECT_EQ(load("seed: 1\nshuffle: true\nseed: 2\n"),
            "c.yaml:3: seed is already set on line 1; keep one of them");
  EXPECT_EQ(load("policy_loss: {clip_low: 0.1}\npolicy_loss: {clip_low: 0.1}\n"),
            "c.yaml:2: policy_loss is already set on line 1; keep one of them");
}

TEST_F(Config, FilesThatAreNotConfigsAreRefused) {
  EXPECT_EQ(load(""), "c.yaml: the config has no keys; see configs/ for examples");
  EXPECT_EQ(load("# only a comment\n"),
            "c.yaml: the config has no keys; see configs/ for examples");
  EXPECT_EQ(load("seed: 1\n---\nseed: 2\n"),
            "c.yaml: the file has several YAML documents; keep one");
  EXPECT_EQ(load(" ,"), "c.yaml: the config has no keys; see configs/ for examples");
  EXPECT_TRUE(load("seed: 1\n,").starts_with("c.yaml:2: not valid YAML: "));
  EXPECT_TRUE(load("seed: 1\nname: [a\nshuffle: true\n").starts_with("c.yaml:3: not valid YAML: "));
  EXPECT_TRUE(load("seed: 1\n\tname: x\n").starts_with("c.yaml:2: not valid YAML: "));
  EXPECT_TRUE(load(std::string(100000, '[')).starts_with("c.yaml:1: not valid YAML: "));
  EXPECT_TRUE(load("a: &x {b: *x}\n").starts_with("c.yaml:1: a is not a section"));
  const std::string missing = error_of([&] { load_config(fields, "/nowhere/c.yaml", {}); });
  EXPECT_EQ(missing,
            "/nowhere/c.yaml: cannot open it: No such file or directory; check the path and its "
            "permissions");
  EXPECT_TRUE(error_of([&] { load_config(fields, scratch.path(), {}); }).ends_with("name a file"));
}

TEST_F(Config, DumpsReadBackToTheSameValues) {
  options.name = "tab\t \"quotes\" \\ new\nline # no comment, \xc3\xa9 \xe4\xb8\xad\x01";
  options.policy_loss.inner.names = {"",    "true",  "12", "~",     "a,b",
                                     "[x]", " pad ", "-",  "plain", "No"};
  options.policy_loss.inner.rate = 0.1 + 0.2;
  options.policy_loss.clip_low = 1.0 / 3;
  options.policy_loss.algorithm = Algorithm::kGrpo;
  options.budgets = {};
  options.seed = 9223372036854775807;
  RunOptions copy;
  FieldList copy_fields;
  describe(copy_fields, copy);
  const std::string text = dump_config(fields);
  load_config(copy_fields, scratch.write("d.yaml", text), {});
  EXPECT_EQ(copy.name, options.name);
  EXPECT_EQ(copy.policy_loss.inner.names, options.policy_loss.inner.names);
  EXPECT_EQ(copy.policy_loss.inner.rate, 0.1 + 0.2);
  EXPECT_EQ(copy.policy_loss.clip_low, 1.0 / 3);
  EXPECT_EQ(copy.policy_loss.algorithm, Algorithm::kGrpo);
  EXPECT_TRUE(copy.budgets.empty());
  EXPECT_EQ(copy.seed, 9223372036854775807);
  EXPECT_EQ(copy.last, "");
  EXPECT_EQ(dump_config(copy_fields), text);
}

TEST_F(Config, DumpsListFieldsBeforeInnerSections) {
  EXPECT_EQ(dump_config(fields),
            "seed: 1\n"
            "shuffle: true\n"
            "name: run\n"
            "budgets: [4096, 8192]\n"
            "files: \"\"\n"
            "last: \"\"\n"
            "policy_loss:\n"
            "  algorithm: gspo\n"
            "  clip_low: 0.2\n"
            "  inner:\n"
            "    rate: 0.1\n"
            "    names: [a, b]\n");
}

TEST_F(Config, ExplainsEveryKeyWithDefaultUnitAndRange) {
  options.seed = 5;  // a loaded value is not the default
  const std::string text = explain_config(fields, "all");
  EXPECT_NE(text.find("  seed                     Seed.\n"
                      "                             default 1; at least 0\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\npolicy_loss.inner:\n"
                      "  policy_loss.inner.rate   Rate.\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("default 0.1; 1/step; at least 0\n"), std::string::npos) << text;
  EXPECT_NE(text.find("default gspo; grpo | gspo\n"), std::string::npos) << text;
}

TEST_F(Config, ExplainsKeysWhoseNamesContainAText) {
  const std::string text = explain_config(fields, "clip");
  EXPECT_EQ(text.find("seed"), std::string::npos) << text;
  EXPECT_NE(text.find("policy_loss.clip_low"), std::string::npos) << text;
  EXPECT_EQ(explain_config(fields, "my.yaml"), explain_config(fields, "")) << "a config, not a key";
  EXPECT_EQ(explain_config(fields, "clipp"),
            "No key contains \"clipp\"; --help all lists all keys\n");
  EXPECT_EQ(explain_config(fields, "policy_loss.clip_lwo"),
            "No key contains \"policy_loss.clip_lwo\"; did you mean policy_loss.clip_low? "
            "--help all lists all keys\n");
}

TEST_F(Config, ExplainsTheBasicKeysAndNamesTheOthersBySection) {
  const std::vector<std::string_view> basics = {"seed", "policy_loss.clip_low"};
  EXPECT_EQ(explain_config(fields, "", basics),
            "\nThe keys that most runs set:\n"
            "  seed                     Seed.\n"
            "                             default 1; at least 0\n"
            "  policy_loss.clip_low     Lower clip.\n"
            "                             default 0.2; 0 to 1\n"
            "\nThe others by section. --help KEY explains the keys whose names contain KEY, --help "
            "all explains all.\n"
            "  top level: shuffle, name, budgets, files, last\n"
            "  policy_loss: algorithm\n"
            "  policy_loss.inner: rate, names\n");
}

TEST_F(Config, KeysThatACommandSetsAreStoredButNeitherExplainedNorSetByOverrides) {
  std::string origin = "there";
  fields.add("origin", origin, {.help = "Origin.", .set_by = "lie_replay"});
  EXPECT_EQ(explain_config(fields, "all").find("origin"), std::string::npos);
  EXPECT_EQ(explain_config(fields, "").find("origin"), std::string::npos);
  EXPECT_EQ(explain_config(fields, "origin"),
            "No key contains \"origin\"; --help all lists all keys\n");
  EXPECT_EQ(load("seed: 2\n", {"origin=here"}),
            "--set origin=here: origin is set by lie_replay only; drop it");
  EXPECT_EQ(load("seed: 2\norigin: elsewhere\n"), "no error");
  EXPECT_EQ(origin, "elsewhere");
  EXPECT_NE(dump_config(fields).find("origin: elsewhere\n"), std::string::npos);
}

TEST_F(Config, KeysOfOtherFrameworksAreAnsweredFromTheirTable) {
  struct Rl {
    double clip = 0, coefficient = 0, beta = 0, rate = 0;
    std::int64_t samples = 0, tokens = 0, steps = 0;
  } rl;
  FieldList known;
  known.add("policy_loss.kl_coefficient", rl.coefficient, {"KL."});
  known.add("reward.redundancy.beta", rl.beta, {"Beta."});
  known.add("optimizer.learning_rate", rl.rate, {"Rate."});
  known.add("optimizer.eps", rl.clip, {"Eps."});
  known.add("rollout.samples_per_prompt", rl.samples, {"Samples."});
  known.add("rollout.max_response_tokens", rl.tokens, {"Tokens."});
  known.add("checkpoint.every", rl.steps, {"Steps."});
  const auto answer = [&](const std::string& key) {
    const std::vector<std::string> overrides = {key + "=1"};
    std::string text = error_of([&] { set_config(known, overrides); });
    const std::string head = "--set " + key + "=1: unknown key " + key + "; ";
    return text.starts_with(head) ? text.substr(head.size()) : text;
  };
  const std::string rest = "; --help all lists all keys";
  EXPECT_EQ(answer("policy_loss.beta"), "TRL's beta is policy_loss.kl_coefficient here" + rest);
  EXPECT_EQ(answer("beta"), "TRL's beta is policy_loss.kl_coefficient here" + rest);
  EXPECT_EQ(answer("reward.beta"),
            "did you mean reward.redundancy.beta? --help all lists all keys");
  EXPECT_EQ(answer("actor_rollout_ref.rollout.n"),
            "verl's rollout.n is rollout.samples_per_prompt here" + rest);
  EXPECT_EQ(answer("num_generations"),
            "TRL's num_generations is rollout.samples_per_prompt here" + rest);
  EXPECT_EQ(answer("optimizer.lr"), "verl's actor.optim.lr is optimizer.learning_rate here" + rest);
  EXPECT_EQ(answer("rollout.max_new_tokens"),
            "TRL's max_new_tokens is rollout.max_response_tokens here" + rest);
  EXPECT_EQ(answer("generate_max_len"),
            "OpenRLHF's generate_max_len is rollout.max_response_tokens here" + rest);
  EXPECT_EQ(answer("ckpt.interval"), "prime-rl's ckpt.interval is checkpoint.every here" + rest);
  EXPECT_EQ(answer("num_train_epochs"), "--help all lists all keys")
      << "run.steps is not a key here";
  const auto nested = scratch.write("verl.yaml", "trainer:\n  save_freq: 10\n");
  EXPECT_EQ(error_of([&] { load_config(known, nested, {}); }),
            nested.string() +
                ":2: unknown key trainer.save_freq; verl's trainer.save_freq is "
                "checkpoint.every here; --help all lists all keys");
  const auto whole = scratch.write("whole.yaml",
                                   "num_generations: 8\n"
                                   "actor:\n  optim: {lr: 1}\n  own: 2\n"
                                   "other: {key: 1}\n"
                                   "checkpoint: {evry: 1}\n");
  const std::string at = whole.string() + ":";
  EXPECT_EQ(error_of([&] { load_config(known, whole, {}); }),
            at + " 5 keys or sections are unknown; --help all lists all keys\n  " + at +
                "1: unknown key num_generations; TRL's num_generations is "
                "rollout.samples_per_prompt here\n  " +
                at +
                "3: unknown key actor.optim.lr; verl's actor.optim.lr is "
                "optimizer.learning_rate here\n  " +
                at + "4: unknown key actor.own\n  " + at +
                "5: other is not a section of this command; its sections are checkpoint, "
                "optimizer, policy_loss, reward, reward.redundancy, rollout\n  " +
                at + "6: unknown key checkpoint.evry; did you mean checkpoint.every?");
}

TEST_F(Config, AKeyInSeveralRowsOfTheTableIsAnsweredByItsValue) {
  std::string algorithm, aggregation;
  FieldList known;
  known.add("policy_loss.algorithm", algorithm, {"Loss."});
  known.add("policy_loss.aggregation", aggregation, {"Sum."});
  const auto answer = [&](const std::string& text) {
    const auto file = scratch.write("other.yaml", text + "\n");
    const std::string error = error_of([&] { load_config(known, file, {}); });
    return error.substr(std::min(error.find("; "), error.size()));
  };
  EXPECT_THAT(answer("loss_type: luspo"), testing::HasSubstr("policy_loss.algorithm: luspo"));
  EXPECT_THAT(answer("loss_type: dr_grpo"), testing::HasSubstr("policy_loss.aggregation: "));
  EXPECT_THAT(answer("policy_loss: {loss_mode: cispo}"),
              testing::HasSubstr("policy_loss.cispo.ceiling"));
  EXPECT_THAT(answer("loss_type: bnpo"),
              testing::HasSubstr(
                  "policy_loss.algorithm or policy_loss.aggregation, depending on its value"));
  EXPECT_THAT(answer("critic: {optim: {lr: 1}}"),
              testing::HasSubstr("verl's critic.*: none: advantages"));
}

TEST_F(Config, DifferencesShowBothValues) {
  const auto path = scratch.write("there.yaml", dump_config(fields));
  EXPECT_TRUE(config_differences(fields, path, {}).empty());
  options.policy_loss.clip_low = 0.3;
  options.seed = 2;
  options.budgets = {1};
  const std::vector<std::string> ignored = {"seed", "policy_loss.clip", "budget"};
  EXPECT_EQ(config_differences(fields, path, ignored),
            (std::vector<std::string>{"budgets: there 4096, 8192, here 1",
                                      "policy_loss.clip_low: there 0.2, here 0.3"}));
  const auto other = scratch.write("other.yaml", dump_config(fields) + "gone:\n  key: 1\n");
  EXPECT_EQ(config_differences(fields, other, {}),
            (std::vector<std::string>{"gone.key: there 1, here unknown"}));
}

TEST_F(Config, AFormerNameOfAKeyIsAcceptedAndReported) {
  std::int64_t shards = 8;
  fields.add("shards", shards, {"Shards."});
  fields.rename("lanes", "shards");
  const auto older = scratch.write("older.yaml", "lanes: 4\n");
  EXPECT_EQ(load_config(fields, older, {}),
            std::vector<std::string>{older.string() + ":1: lanes is now called shards"});
  EXPECT_EQ(shards, 4);
  EXPECT_TRUE(config_differences(fields, older, {}).empty());
  const std::vector<std::string> overrides = {"lanes=2"};
  EXPECT_EQ(set_config(fields, overrides),
            std::vector<std::string>{"--set lanes=2: lanes is now called shards"});
  EXPECT_EQ(config_differences(fields, older, {}),
            std::vector<std::string>{"shards: there 4, here 2"});
  EXPECT_EQ(dump_config(fields).find("lanes"), std::string::npos);
}

TEST_F(Config, AKeyOfAFormerSectionIsAcceptedAndReported) {
  fields.rename("loss.tuning", "policy_loss.inner");
  const auto older = scratch.write("older.yaml", "loss:\n  tuning: {rate: 0.5}\n");
  EXPECT_EQ(load_config(fields, older, {}),
            std::vector<std::string>{older.string() +
                                     ":2: loss.tuning.rate is now called policy_loss.inner.rate"});
  EXPECT_EQ(options.policy_loss.inner.rate, 0.5);
  EXPECT_TRUE(config_differences(fields, older, {}).empty());
  EXPECT_THAT(load("loos: {x: 1}\n"), ::testing::Not(::testing::HasSubstr("did you mean loss?")));
}

TEST_F(Config, OptionalNumbersReadAndPrintAutoWhenUnset) {
  std::optional<double> clip_high;
  fields.add("clip_high", clip_high, {.help = "Upper clip.", .min = 0, .max = 1});
  const auto set = [&](const std::string& text) {
    set_config(fields, std::vector{"clip_high=" + text});
    return clip_high;
  };
  EXPECT_NE(explain_config(fields, "all").find("default auto; auto, or 0 to 1\n"),
            std::string::npos);
  EXPECT_NE(dump_config(fields).find("clip_high: auto\n"), std::string::npos);
  EXPECT_EQ(set("0.25"), 0.25);
  EXPECT_NE(dump_config(fields).find("clip_high: 0.25\n"), std::string::npos);
  EXPECT_EQ(set("auto"), std::nullopt);
  EXPECT_THROW(set("2"), Error);
  EXPECT_THROW(set("none"), Error);
  EXPECT_EQ(set("-1"), std::nullopt) << "as earlier versions wrote it";
  for (const char* typo : {"-0.2", "-abc", "-", "-1.0", "-2"}) {
    EXPECT_THAT(error_of([&] { set(typo); }), testing::HasSubstr("expected")) << typo;
  }
}

TEST_F(Config, ATextWithChoicesTakesNoOther) {
  std::string color = "red";
  fields.add_one_of("color", color, {"red", "green"}, {"Color."});
  EXPECT_NE(dump_config(fields).find("color: red\n"), std::string::npos);
  set_config(fields, std::vector<std::string>{"color=green"});
  EXPECT_EQ(color, "green");
  EXPECT_EQ(error_of([&] { set_config(fields, std::vector<std::string>{"color=blue"}); }),
            "--set color=blue: color: expected one of red, green, found \"blue\"; correct it, or "
            "leave the key out for the default red");
}

TEST_F(Config, NegativeNumbersOfEarlierVersionsAreUnsetOptionalNumbers) {
  std::optional<double> clip_high = 0.5;
  fields.add("clip_high", clip_high, {.help = "Upper clip.", .min = 0});
  std::string text = dump_config(fields);
  text.replace(text.find("clip_high: 0.5"), 14, "clip_high: -1");
  const auto older = scratch.write("older.yaml", text);
  EXPECT_EQ(config_differences(fields, older, {}),
            std::vector<std::string>{"clip_high: there -1, here 0.5"});
  load_config(fields, older, {});
  EXPECT_EQ(clip_high, std::nullopt);
  EXPECT_TRUE(config_differences(fields, older, {}).empty());
}

TEST_F(Config, MissingKeysOfOlderRunsHaveTheirFormerBehavior) {
  std::int64_t lanes = 8;
  fields.add("lanes", lanes, {.help = "Lanes.", .min = 1, .before = "1"});
  const auto older = scratch.write("older.yaml", "seed: 1\n");
  EXPECT_EQ(config_differences(fields, older, {}),
            (std::vector<std::string>{"lanes: there 1, here 8"}));
  lanes = 1;
  EXPECT_TRUE(config_differences(fields, older, {}).empty()) << "all other keys as by default";
  options.budgets = {4096};
  options.policy_loss.clip_low = 0.3;
  EXPECT_EQ(config_differences(fields, older, {}),
            (std::vector<std::string>{"budgets: there [4096, 8192], here 4096",
                                      "policy_loss.clip_low: there 0.2, here 0.3"}));
}

}  // namespace
}  // namespace lie
