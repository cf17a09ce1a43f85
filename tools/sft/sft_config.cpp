#include "tools/sft/sft_config.h"

#include "common/base/error.h"
#include "common/config/config.h"
#include "tools/run/config/devices.h"

namespace lie {

void describe(FieldList& fields, SftConfig& config) {
  fields.section("run", config.run);
  fields.section("run",
                 [&] { add_collective_time_limit(fields, config.collective_time_limit_minutes); });
  fields.section("model", config.model);
  fields.section("model.lora", config.model.lora);
  fields.add("model.initialize", config.initialize,
             {.help = "Start from random weights. model.path then needs config.json and the "
                      "tokenizer files only."});
  fields.rename("initialise", "model.initialize");
  fields.rename("model.initialise", "model.initialize");
  describe(fields, config.sft);
}

SftConfig load_sft_config(const std::filesystem::path& path,
                          std::span<const std::string> overrides) {
  SftConfig config;
  config.former_keys = load_config(fields_of(config), path, overrides);
  if (config.model.path.empty()) {
    fail("{}: model.path is not set: name the Hugging Face directory to start from", path.string());
  }
  if (config.sft.train_file.empty()) {
    fail(
        "{}: data.train_file is not set: name a JSONL or Parquet file of conversations, or of "
        "prompts and responses",
        path.string());
  }
  check_options(config.model.lora);
  if (config.initialize && trains_adapter(config.model.lora)) {
    fail(
        "{}: model.initialize and model.lora are both set: an adapter needs a base that has "
        "learned something; remove one of them",
        path.string());
  }
  set_zero_stage(config.sft.trainer, is_on_gpu(config.model));
  check_zero_stage(config.sft.trainer, trains_adapter(config.model.lora));
  return config;
}

}  // namespace lie
