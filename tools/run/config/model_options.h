// The config sections "model" and "model.lora": the policy, its device, and the adapter that a run
// trains.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/config/options.h"

namespace lie {

/// How the frozen base of an adapter is quantized: not at all, or to NF4.
enum class BaseQuantization : std::uint8_t { kNone, kNormalFloat4 };

/// The adapter that a run trains instead of all weights (LoRA). The defaults are those of verl.
struct LoraOptions {
  std::int64_t rank = 0;  // 0: all weights are trained
  double alpha = 16;
  std::vector<std::string> targets = {"all-linear"};
  BaseQuantization quantize_base = BaseQuantization::kNone;
};
void describe(FieldList& fields, LoraOptions& options);

/// Throws Error if the options do not go together.
void check_options(const LoraOptions& options);

inline bool trains_adapter(const LoraOptions& options) { return options.rank > 0; }

struct ModelOptions {
  std::string path;
  std::string adapter = {};  // a directory; empty: none, or that of `path`
  std::string device = "cpu";
  std::int64_t threads = 0;
  LoraOptions lora = {};  // of commands that train, which describe it in "model.lora"
};
void describe(FieldList& fields, ModelOptions& options);

}  // namespace lie
