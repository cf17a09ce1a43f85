#include "learner/checkpoint/checkpoint.h"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "common/base/fault.h"
#include "common/io/checksums.h"
#include "common/io/file.h"
#include "learner/checkpoint/checkpoint_directory.h"
#include "learner/checkpoint/stored_moments.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

constexpr std::array kTokenizerFiles = {"tokenizer.json",
                                        "tokenizer_config.json",
                                        "special_tokens_map.json",
                                        "added_tokens.json",
                                        "vocab.json",
                                        "merges.txt",
                                        "chat_template.jinja"};

/// Writes the files that all parts share.
void save_rest(const CheckpointContents& contents, std::span<const CheckpointPart> parts,
               const fs::path& directory) {
  const Weights& weights = contents.weights;
  copy_tokenizer(contents.start_model, directory);
  save_generation_config(weights.config(), contents.start_model, directory);
  save_model_config(weights.config(), directory);
  if (const auto& lora = weights.config().lora) save_lora_config(*lora, directory);
  std::vector<RangeFile> files;
  for (const CheckpointPart& part : parts) {
    if (!part.weights.name.empty()) files.push_back(part.weights);
  }
  if (files.size() > 1) save_weights_index(weights.parameters(), files, directory);
  TrainerState state = contents.state;
  state.optimizer_updates = contents.optimizer.updates();
  state.skipped_updates = contents.optimizer.skipped();
  save_trainer_state(state, directory);
  if (contents.extra != nullptr) contents.extra->save(directory);
}

void sync_tree(const fs::path& directory) {
  for (const std::string& name : list_directory(directory)) {
    const fs::path path = directory / name;
    fs::is_directory(path) ? sync_tree(path) : sync_file(path);
  }
  sync_directory(directory);
}

fs::path partial_path(const fs::path& checkpoints, std::int64_t step) {
  return checkpoints / fmt::format(".{}.partial", checkpoint_path({}, step).string());
}

}  // namespace

void copy_tokenizer(const fs::path& from, const fs::path& to) {
  for (const char* name : kTokenizerFiles) {
    if (fs::is_regular_file(from / name)) write_file_atomically(to / name, read_file(from / name));
  }
}

void begin_checkpoint(const fs::path& checkpoints, std::int64_t step) {
  make_directories(checkpoints);
  remove_leftovers(checkpoints);
  make_directories(partial_path(checkpoints, step));
}

std::string write_checkpoint_part(const fs::path& checkpoints, const CheckpointContents& contents,
                                  std::span<const CheckpointPart> parts, int learner) {
  const fs::path partial = partial_path(checkpoints, contents.state.step);
  if (learner == 0) save_rest(contents, parts, partial);
  const CheckpointPart& part = parts[static_cast<std::size_t>(learner)];
  if (!part.weights.name.empty()) save_parameters(contents.weights, part.weights, partial);
  if (!part.moments.name.empty()) {
    save_moments(contents.optimizer, contents.weights, partial / part.moments.name);
  }
  const std::vector<std::string> files = files_of(part);
  for (const std::string& file : files) sync_file(partial / file);
  sync_directory(partial);
  pass_fault_point("part");
  return checksum_lines(partial, files);
}

fs::path complete_checkpoint(const fs::path& checkpoints, std::int64_t step,
                             const std::string& checksums) {
  const fs::path partial = partial_path(checkpoints, step);
  const fs::path complete = checkpoint_path(checkpoints, step);
  write_checksums(partial, checksums);
  sync_tree(partial);
  if (fs::exists(complete)) remove_checkpoint(complete);
  rename_durably(partial, complete);
  return complete;
}

TrainerState load_checkpoint(const fs::path& checkpoint, Weights& weights, AdamW& optimizer) {
  const TrainerState state = load_trainer_state(checkpoint);
  check_weights(checkpoint, weights);
  const StoredMoments moments(checkpoint, weights.parameters());
  read_weights(checkpoint, weights);
  moments.read(optimizer);
  optimizer.restore_counts(state.optimizer_updates, state.skipped_updates);
  return state;
}

TrainerState load_checkpoint(const fs::path& checkpoint, ShardedTrainer& trainer) {
  TrainerState state = load_checkpoint(checkpoint, trainer.weights(), trainer.optimizer());
  trainer.gather_weights();
  return state;
}

}  // namespace lie
