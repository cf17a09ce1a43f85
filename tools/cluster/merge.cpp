// lie_cluster merge: the weights of a base and its adapter as one model.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <iostream>
#include <memory>

#include "common/base/error.h"
#include "common/io/file.h"
#include "learner/checkpoint/checkpoint.h"
#include "model/weights/adapter_file.h"
#include "tools/cluster/commands.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

struct MergeArguments {
  fs::path model, output, adapter;
};

void merge(const MergeArguments& arguments) {
  if (fs::exists(arguments.output) &&
      !(fs::is_directory(arguments.output) && list_directory(arguments.output).empty())) {
    fail("{}: is there already; name a new directory", arguments.output.string());
  }
  if (!fs::is_directory(arguments.model)) {
    fail("{}: there is no such directory", arguments.model.string());
  }
  const PolicyFiles policy = find_policy(arguments.model, arguments.adapter);
  if (policy.adapter.empty()) {
    fail("{}: has no adapter; give one by --adapter", arguments.model.string());
  }
  const ModelConfig config = load_policy_config(arguments.model, arguments.adapter);
  plan_weights(arguments.model, arguments.adapter);  // checks everything before a file is written
  check_base(policy);
  for (const std::string& remark : adapter_remarks(policy)) print_warning(remark);
  make_directories(arguments.output);
  const bool has_tokenizer = fs::exists(arguments.model / "tokenizer.json");
  const fs::path& beside = has_tokenizer ? arguments.model : policy.base;
  copy_tokenizer(beside, arguments.output);
  save_generation_config(config, beside, arguments.output);
  save_merged(policy, config.end_of_sequence_ids, arguments.output);
  const char* const weights = config.lora->nf4 ? "weights as dequantized from NF4" : "weights";
  std::cout << fmt::format("{}: {} with {} merged into its {}, in fp32\n",
                           arguments.output.string(), policy.base.string(), policy.adapter.string(),
                           weights);
}

}  // namespace

void add_merge(CLI::App& program, ProcessCommand& chosen) {
  const auto arguments = std::make_shared<MergeArguments>();
  CLI::App* command = program.add_subcommand(
      "merge", "Merge a LoRA adapter into its base: a model that any program reads");
  command
      ->add_option("MODEL_DIR", arguments->model,
                   "Model with an adapter, such as a checkpoint of a run with model.lora, or the "
                   "base of --adapter")
      ->required();
  command->add_option("OUTPUT_DIR", arguments->output, "New model directory")->required();
  command->add_option("--adapter", arguments->adapter,
                      "LoRA adapter in PEFT's format; default: that of MODEL_DIR");
  command->callback([&chosen, arguments] { chosen = [=] { merge(*arguments); }; });
}

}  // namespace lie
