#include "tools/init/init_command.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>

#include "common/dataset/field_names.h"
#include "common/dataset/rows.h"
#include "common/error.h"
#include "common/json_lines.h"
#include "model/tokenizer/templates.h"
#include "model/tokenizer/tokenizer.h"
#include "tools/init/run_sizes.h"
#include "tools/run/prompts.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kPromptsPerStep = 32;
constexpr const char* kBoxed =
    "\n\nPlease reason step by step, and put your final answer within \\boxed{}.";

/// What the model and the rows turned out to be.
struct Findings {
  WeightsPlan model;
  RowOptions rows;
  std::string template_note;
  Dataset dataset;
  std::int64_t longest_prompt = 0;  // tokens
  bool has_reference_lengths = false;
};

/// A field that the program would not look for by itself.
std::string unless_default(const std::string& field,
                           std::initializer_list<const char*> looked_for) {
  return std::ranges::find(looked_for, field) == looked_for.end() ? field : "";
}

RowOptions row_options(const fs::path& data) {
  RowOptions options;
  FieldNames names;
  for_each_row(data, [&](const JsonRow& row, std::int64_t number) {
    if (number > 0) return;
    names = guess_fields(row);
    if (names.prompt.empty() || names.gold.empty()) {
      fail(
          "{}: found no field that looks like {}; {}; write the config by hand, with "
          "data.prompt_field and data.gold_field",
          row.place(), names.prompt.empty() ? "a prompt" : "the right answer", fields_text(row));
    }
  });
  options.prompt_field = names.prompt;
  options.gold_field = unless_default(names.gold, {"gold", "answer", "reward_model.ground_truth"});
  options.choices_field = names.choices;
  if (!names.data_source.empty()) options.data_source_field = names.data_source;
  options.reference_length_field = unless_default(names.reference_length, {"reference_length"});
  options.skip_bad_rows = true;
  return options;
}

/// The model's own template; plain where it has none, or one that is not known.
void choose_template(const fs::path& model, Findings& found) {
  found.rows.prompt_template = "plain";
  found.template_note = "the model has no chat template";
  if (!has_chat_template(model)) return;
  try {
    prompt_template("model", model);
    found.rows.prompt_template = "model";
    found.template_note = "the model's chat template";
  } catch (const Error&) {
    found.template_note = fmt::format("the model's chat template is unknown here: is it one of {}?",
                                      fmt::join(template_names(), ", "));
  }
}

/// Under a template, rows that do not ask for a box are made to.
void choose_suffix(const InitArguments& arguments, Findings& found) {
  const auto& prompts = found.dataset.prompts;
  const auto asking = std::ranges::count_if(prompts, [](const Prompt& prompt) {
    return prompt.text.find("\\boxed") != std::string::npos;
  });
  if (found.rows.prompt_template == "plain" || 2 * asking > std::ssize(prompts)) return;
  found.rows.prompt_suffix = kBoxed;
  found.dataset = read_run_prompts(arguments.data, found.rows, arguments.model);
}

Findings findings(const InitArguments& arguments) {
  Findings found;
  found.model = plan_weights(arguments.model);
  const Tokenizer tokenizer = Tokenizer::load(arguments.model);
  found.rows = row_options(arguments.data);
  choose_template(arguments.model, found);
  found.dataset = read_run_prompts(arguments.data, found.rows, arguments.model);
  choose_suffix(arguments, found);
  for (const Prompt& prompt : found.dataset.prompts) {
    found.longest_prompt =
        std::max(found.longest_prompt, std::ssize(tokenizer.encode(prompt.text)));
  }
  found.has_reference_lengths = std::ranges::all_of(
      found.dataset.prompts, [](const Prompt& prompt) { return prompt.reference_length >= 0; });
  return found;
}

std::string line(const char* key, const std::string& value, const std::string& comment) {
  const std::string pair = fmt::format("  {}: {}", key, value);
  return comment.empty() ? pair + "\n" : fmt::format("{:<41} # {}\n", pair, comment);
}

std::string head(const Findings& found, const RunSizes& sizes) {
  std::string text =
      "# Written by lie_cluster init. Every key: lie_cluster train --help. Start it with\n"
      "#   mpirun -n 4 lie_cluster train THIS_FILE\n";
  text += fmt::format(
      "# Memory: a learner {:.2f} GiB and its micro-batches, an actor {:.2f} GiB; this "
      "machine has {:.0f} GiB.\n",
      sizes.learner_gibibytes, sizes.actor_gibibytes, sizes.machine_gibibytes);
  if (sizes.learner_gibibytes + sizes.actor_gibibytes > sizes.machine_gibibytes) {
    text += "# That is more than there is: spread the ranks over hosts, or take a smaller model.\n";
  }
  const std::string skipped = skipped_rows_text(found.dataset);
  return skipped.empty() ? text : text + fmt::format("# {}\n", skipped);
}

std::string run_section(const InitArguments& arguments, const Findings& found) {
  const auto rows = std::ssize(found.dataset.prompts);
  const std::int64_t steps = std::min<std::int64_t>(200, (rows - 1) / kPromptsPerStep + 1);
  const fs::path name = arguments.data.stem();
  return "run:\n" + line("directory", json_quoted((fs::path("runs") / name).string()), "") +
         line("steps", fmt::format("{}", steps),
              fmt::format("{} prompts are {} steps an epoch", rows,
                          (rows - 1) / kPromptsPerStep + 1)) +
         "model:\n" +
         line("path", json_quoted(arguments.model.string()),
              fmt::format("{}, {:.1f} M parameters", found.model.config.architecture,
                          static_cast<double>(found.model.parameters) / 1e6));
}

std::string data_section(const InitArguments& arguments, const Findings& found) {
  const RowOptions defaults, &rows = found.rows;
  std::string text = "data:\n" + line("train_file", json_quoted(arguments.data.string()), "") +
                     line("prompt_template", rows.prompt_template, found.template_note);
  const auto add = [&](const char* key, const std::string& value, const std::string& usual,
                       const std::string& comment) {
    if (value != usual) text += line(key, json_quoted(value), comment);
  };
  add("prompt_field", rows.prompt_field, defaults.prompt_field, "");
  add("prompt_suffix", rows.prompt_suffix, "", "the verifier wants the answer in a box");
  add("choices_field", rows.choices_field, "", "");
  add("gold_field", rows.gold_field, "", "");
  add("data_source_field", rows.data_source_field, defaults.data_source_field, "");
  add("reference_length_field", rows.reference_length_field, "", "");
  if (!found.dataset.skipped.empty()) text += line("skip_bad_rows", "true", "");
  return text + "  # evaluation_file: held-out.jsonl       # and evaluation: {every: 10}\n";
}

std::string rollout_section(const Findings& found, const RunSizes& sizes) {
  const auto number = [](std::int64_t n) { return fmt::format("{}", n); };
  return "rollout:\n" + line("prompts_per_step", number(kPromptsPerStep), "") +
         line("samples_per_prompt", "8", "responses to each prompt: a group") +
         line("max_prompt_tokens", number(sizes.max_prompt_tokens),
              fmt::format("the longest prompt has {}", found.longest_prompt)) +
         line("max_response_tokens", number(sizes.max_response_tokens),
              fmt::format("the model reads {} positions", found.model.config.max_positions)) +
         line("cache_mebibytes", number(sizes.cache_mebibytes), "KV cache of an actor");
}

/// The paper's proportions: delta 500 and .3 for 9,000 missing tokens under a limit of 8,192.
std::string reward_section(const Findings& found, const RunSizes& sizes) {
  const auto limit = static_cast<double>(sizes.max_response_tokens);
  std::string text =
      "reward:\n  length:                                 # R_len: a wrong answer pays "
      "for each token short of L_ref + delta\n";
  if (!found.has_reference_lengths) {
    text +=
        "    enabled: false                        # the rows have no L_ref. To measure it:\n"
        "    # mpirun -n 4 lie_cluster reference-lengths THIS_FILE --output measured.jsonl\n"
        "    # then data.train_file: measured.jsonl and enabled: true\n";
  }
  text += fmt::format("    delta_tokens: {:.0f}\n    eta: {:.2g}\n", limit * 500 / 8192,
                      0.3 / (limit * 9000 / 8192));
  return text +
         "  redundancy: {enabled: true}             # R_red: a response that repeats itself pays\n";
}

}  // namespace

std::string initial_config(const InitArguments& arguments) {
  const Findings found = findings(arguments);
  const RunSizes sizes = run_sizes(found.model, found.longest_prompt);
  return head(found, sizes) + run_section(arguments, found) + data_section(arguments, found) +
         rollout_section(found, sizes) + reward_section(found, sizes) +
         "policy_loss: {algorithm: gspo}\ncheckpoint: {every: 20}\n";
}

}  // namespace lie
