#include "tools/run/config/model_options.h"

#include <fmt/ranges.h>

#include "common/base/error.h"
#include "model/config/lora.h"

namespace lie {

void describe(FieldList& fields, LoraOptions& options) {
  fields.add("rank", options.rank,
             {.help = "Rank r of the low-rank pairs (LoRA) that are trained in place of the "
                      "weights, which stay as they are. 0: all weights are trained.",
              .min = 0,
              .max = 65536});
  fields.add("alpha", options.alpha,
             {.help = "Scale of the pairs: each adds alpha / rank times B A to its matrix.",
              .min = 1e-6,
              .max = 1e6});
  fields.add_one_or_more(
      "targets", options.targets,
      {.help = fmt::format("Linear layers that get a pair, by PEFT's names: {}, or a list of {}.",
                           kAllLinear, fmt::join(kLoraModules, ", "))});
  fields.add(
      "quantize_base", options.quantize_base,
      {{"none", BaseQuantization::kNone}, {"nf4", BaseQuantization::kNormalFloat4}},
      {.help = "nf4 (QLoRA): the linear layers of the base take 4.5 bits a weight in learners "
               "and actors, with the numbers of bitsandbytes' NF4. none: the base is held "
               "as it is stored."});
  fields.refuse("dropout",
                "pairs have no dropout: with it, the log-probs of the learner would not be those "
                "that the sampler drew with");
}

void check_options(const LoraOptions& options) {
  if (trains_adapter(options)) {
    lora_targets(options.targets, "model.lora.targets");  // checks them
  } else if (options.quantize_base != BaseQuantization::kNone) {
    fail(
        "model.lora.quantize_base is nf4 and model.lora.rank is 0: only the frozen base of an "
        "adapter can be quantized; set the rank, or quantize_base to none");
  }
}

void describe(FieldList& fields, ModelOptions& options) {
  fields.add("path", options.path,
             {.help = "Hugging Face directory of the policy to start from: config.json, "
                      "model*.safetensors, tokenizer.json.",
              .unit = "path"});
  fields.add("adapter", options.adapter,
             {.help = "Directory of a LoRA adapter in PEFT's format for model.path. Empty: the one "
                      "in model.path, if it has one.",
              .unit = "path"});
  fields.add(
      "device", options.device,
      {.help = "cpu (the program's own operators), cpu-bf16 (the same with bf16 matmul operands, "
               "using AMX if the processor has it), cuda (bf16 compute with fp32 master weights; "
               "learners and actors of a "
               "node share its GPUs in turn) or cuda-exact (the same; the learner computes "
               "log-probs exactly as the sampler did, slower), the last two also with :<number>."});
  fields.add(
      "threads", options.threads,
      {.help = "Threads of a rank that computes on the CPU; 0: the host's cores shared by the "
               "ranks of the same role. Results do not depend on it.",
       .unit = "threads",
       .min = 0,
       .max = 1024});
}

}  // namespace lie
