#include "tools/analyze/decoder.h"

#include <fmt/ranges.h>

#include <memory>

#include "common/base/error.h"
#include "model/tokenizer/tokenizer.h"

namespace lie::analyze {
namespace {

namespace fs = std::filesystem;

std::string as_numbers(std::span<const std::int32_t> ids) {
  return fmt::format("token ids {}", fmt::join(ids, " "));
}

fs::path tokenizer_directory(const Run& run) {
  if (run.checkpoint && fs::exists(*run.checkpoint / "tokenizer.json")) return *run.checkpoint;
  const fs::path start = setting_of(run, "model.path");
  return !start.empty() && fs::exists(start / "tokenizer.json") ? start : fs::path();
}

}  // namespace

Decoder decoder_of(const Run& run) {
  const fs::path directory = tokenizer_directory(run);
  if (directory.empty()) return as_numbers;
  const auto tokenizer = std::make_shared<const Tokenizer>(Tokenizer::load(directory));
  return [tokenizer](std::span<const std::int32_t> ids) { return tokenizer->decode(ids, false); };
}

}  // namespace lie::analyze
