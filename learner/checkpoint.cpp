#include "learner/checkpoint.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <system_error>
#include <vector>

#include "common/checksums.h"
#include "common/error.h"
#include "common/fault.h"
#include "common/file.h"
#include "learner/run_coverage.h"
#include "model/host_parts.h"
#include "model/safetensors.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "step-";
constexpr const char* kOptimizerFile = "optimizer.safetensors";
constexpr std::array kTokenizerFiles = {"tokenizer.json",
                                        "tokenizer_config.json",
                                        "special_tokens_map.json",
                                        "added_tokens.json",
                                        "vocab.json",
                                        "merges.txt",
                                        "chat_template.jinja"};

std::vector<std::pair<std::int64_t, fs::path>> complete_checkpoints(const fs::path& checkpoints) {
  std::vector<std::pair<std::int64_t, fs::path>> found;
  if (!fs::is_directory(checkpoints)) return found;
  for (const std::string& name : list_directory(checkpoints)) {
    if (const auto step = checkpoint_step(name)) found.emplace_back(*step, checkpoints / name);
  }
  std::sort(found.begin(), found.end());
  return found;
}

void remove_tree(const fs::path& path) {
  std::error_code code;
  fs::remove_all(path, code);
  if (code) fail("{}: cannot remove it: {}; check its permissions", path.string(), code.message());
}

/// Renames before removing, so that no partly removed checkpoint has a valid name.
void remove_checkpoint(const fs::path& checkpoint) {
  const fs::path aside =
      checkpoint.parent_path() / fmt::format(".{}.removed", checkpoint.filename().string());
  remove_tree(aside);
  rename_durably(checkpoint, aside);
  remove_tree(aside);
}

void remove_leftovers(const fs::path& checkpoints) {
  for (const std::string& name : list_directory(checkpoints)) {
    if (name.ends_with(".partial") || name.ends_with(".removed")) {
      remove_tree(checkpoints / name);
    }
  }
}

/// The two moments by their names in a checkpoint.
std::array<std::pair<std::string_view, Tensor>, 2> moments(const AdamW& optimizer) {
  return {
      {{"first_moment.", optimizer.first_moment()}, {"second_moment.", optimizer.second_moment()}}};
}

std::vector<TensorShape> moment_shapes(const Weights& weights, const AdamW& optimizer) {
  std::vector<TensorShape> shapes;
  for (const auto& [prefix, flat] : moments(optimizer)) {
    for (const Parameter& parameter : weights.parameters()) {
      shapes.push_back({std::string(prefix) + parameter.name, {parameter.rows, parameter.cols}});
    }
  }
  return shapes;
}

void save_moments(const Weights& weights, const AdamW& optimizer, const fs::path& path) {
  if (optimizer.shard().count != flat_elements(weights.parameters())) {
    fail("{}: this rank holds only a shard of the moments, but a checkpoint needs all of them",
         path.string());
  }
  SafetensorsWriter writer(path, moment_shapes(weights, optimizer));
  for (const auto& [prefix, flat] : moments(optimizer)) {
    pass_fault_point("checkpoint");
    for (const Parameter& parameter : weights.parameters()) {
      read_parts(weights.operators(),
                 flat.elements_at(parameter.offset, parameter.rows * parameter.cols),
                 [&](std::span<const float> values) { writer.append(values); });
    }
  }
  writer.close();
}

/// The optimizer's shard from the entries of moment_shapes().
void read_moments(std::span<const SafetensorsEntry* const> entries, const Weights& weights,
                  const AdamW& optimizer) {
  const std::span<const Parameter> layout = weights.parameters();
  for (const auto& [prefix, flat] : moments(optimizer)) {
    for (const ParameterPiece& piece : pieces_of(layout, optimizer.shard())) {
      const auto number = static_cast<std::size_t>(piece.parameter - layout.data());
      read_entry(weights.operators(), *entries[number], piece.first,
                 flat.elements_at(piece.at, piece.count));
    }
    entries = entries.subspan(layout.size());
  }
}

/// The entries of the file in the order of `expected`; Error if they are not exactly those.
std::vector<const SafetensorsEntry*> matching_entries(const SafetensorsFile& file,
                                                      std::span<const TensorShape> expected) {
  std::map<std::string_view, const SafetensorsEntry*> by_name;
  for (const SafetensorsEntry& entry : file.entries()) by_name[entry.name] = &entry;
  std::vector<const SafetensorsEntry*> found;
  for (const TensorShape& moment : expected) {
    const auto at = by_name.find(moment.name);
    if (at == by_name.end()) {
      fail(
          "{}: tensor {} is missing; the checkpoint is of another model: resume from one of this "
          "run",
          file.path().string(), moment.name);
    }
    if (at->second->shape != moment.shape || at->second->dtype != "F32") {
      fail(
          "{}: tensor {} is not F32 [{}, {}]; the checkpoint is of another model: resume from one "
          "of this run",
          file.path().string(), moment.name, moment.shape[0], moment.shape[1]);
    }
    found.push_back(at->second);
  }
  if (found.size() != by_name.size()) {
    fail(
        "{}: {} tensors where {} were expected; the checkpoint is of another model: resume from "
        "one of this run",
        file.path().string(), by_name.size(), found.size());
  }
  return found;
}

void copy_tokenizer(const fs::path& from, const fs::path& to) {
  for (const char* name : kTokenizerFiles) {
    if (fs::is_regular_file(from / name)) write_file_atomically(to / name, read_file(from / name));
  }
}

void sync_tree(const fs::path& directory) {
  for (const std::string& name : list_directory(directory)) {
    const fs::path path = directory / name;
    fs::is_directory(path) ? sync_tree(path) : sync_file(path);
  }
  sync_directory(directory);
}

}  // namespace

void describe(FieldList& fields, CheckpointOptions& options) {
  fields.add(
      "every", options.every,
      {"Steps between checkpoints; there is one after the last step in any case. 0: that one only. "
       "After a kill, the steps behind the last are learned again from the log.",
       "steps", 0});
  fields.add("keep_last", options.keep_last,
             {"Keep this many of the latest checkpoints; 0: all.", "", 0});
  fields.add("background", options.background,
             {"Write a checkpoint beside the next steps, from a copy for which learner 0 holds 12 "
              "bytes a parameter of host memory. Off: training waits until it is written."});
}

fs::path save_checkpoint(const fs::path& checkpoints, const CheckpointContents& contents) {
  make_directories(checkpoints);
  remove_leftovers(checkpoints);
  const fs::path complete = checkpoint_path(checkpoints, contents.state.step);
  const fs::path partial = checkpoints / ("." + complete.filename().string() + ".partial");
  make_directories(partial);
  copy_tokenizer(contents.start_model, partial);
  save_generation_config(contents.weights.config(), contents.start_model, partial);
  save_weights(contents.weights, partial);
  save_moments(contents.weights, contents.optimizer, partial / kOptimizerFile);
  TrainerState state = contents.state;
  state.optimizer_updates = contents.optimizer.updates();
  state.skipped_updates = contents.optimizer.skipped();
  save_trainer_state(state, partial);
  if (contents.coverage) contents.coverage->save(partial);
  write_checksums(partial);
  sync_tree(partial);
  if (fs::exists(complete)) remove_checkpoint(complete);
  rename_durably(partial, complete);
  return complete;
}

void remove_old_checkpoints(const fs::path& checkpoints, std::int64_t keep_last,
                            std::optional<std::int64_t> best) {
  if (keep_last == 0) return;
  const auto all = complete_checkpoints(checkpoints);
  for (std::int64_t i = 0; i < std::ssize(all) - keep_last; ++i) {
    const auto& [step, path] = all[static_cast<std::size_t>(i)];
    if (step != best) remove_checkpoint(path);
  }
}

std::optional<std::int64_t> checkpoint_step(std::string_view name) {
  if (name.substr(0, kPrefix.size()) != kPrefix) return std::nullopt;
  const std::string_view digits = name.substr(kPrefix.size());
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) {
    return std::nullopt;
  }
  return step;
}

fs::path checkpoint_path(const fs::path& checkpoints, std::int64_t step) {
  return checkpoints / fmt::format("{}{:06}", kPrefix, step);
}

std::optional<fs::path> latest_checkpoint(const fs::path& checkpoints, std::int64_t end) {
  auto all = complete_checkpoints(checkpoints);
  while (!all.empty() && all.back().first >= end) all.pop_back();
  if (all.empty()) return std::nullopt;
  return all.back().second;
}

TrainerState load_checkpoint(const fs::path& checkpoint, Weights& weights, AdamW& optimizer) {
  const TrainerState state = load_trainer_state(checkpoint);
  check_weights(checkpoint, weights);
  const SafetensorsFile file(checkpoint / kOptimizerFile);
  const auto entries = matching_entries(file, moment_shapes(weights, optimizer));
  read_weights(checkpoint, weights);
  read_moments(entries, weights, optimizer);
  optimizer.restore_counts(state.optimizer_updates, state.skipped_updates);
  return state;
}

}  // namespace lie
