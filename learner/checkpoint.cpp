#include "learner/checkpoint.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string_view>
#include <system_error>
#include <vector>

#include "common/checksums.h"
#include "common/error.h"
#include "common/file.h"
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
                                        "chat_template.jinja",
                                        "generation_config.json"};

/// 50 of "step-000050"; empty for any other name.
std::optional<std::int64_t> step_of(std::string_view name) {
  if (name.substr(0, kPrefix.size()) != kPrefix) return std::nullopt;
  const std::string_view digits = name.substr(kPrefix.size());
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) {
    return std::nullopt;
  }
  return step;
}

std::vector<std::pair<std::int64_t, fs::path>> complete_checkpoints(const fs::path& checkpoints) {
  std::vector<std::pair<std::int64_t, fs::path>> found;
  if (!fs::is_directory(checkpoints)) return found;
  for (const std::string& name : list_directory(checkpoints)) {
    if (const auto step = step_of(name)) found.emplace_back(*step, checkpoints / name);
  }
  std::sort(found.begin(), found.end());
  return found;
}

void remove_tree(const fs::path& path) {
  std::error_code code;
  fs::remove_all(path, code);
  if (code) fail("{}: cannot remove it: {}; check its permissions", path.string(), code.message());
}

/// Takes the name away before the content, so that no half-removed checkpoint has a good name.
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

/// The moments as named tensors over the optimizer's memory, in the order of the parameters.
template <typename Float>
struct Moment {
  std::string name;
  const Parameter* parameter;
  std::span<Float> values;
};

template <typename Float>
std::vector<Moment<Float>> moments(std::span<const Parameter> parameters, std::span<Float> first,
                                   std::span<Float> second) {
  std::vector<Moment<Float>> all;
  for (const auto& [prefix, flat] :
       {std::pair{"first_moment.", first}, {"second_moment.", second}}) {
    for (const Parameter& parameter : parameters) {
      all.push_back({prefix + parameter.name, &parameter,
                     flat.subspan(static_cast<std::size_t>(parameter.offset),
                                  static_cast<std::size_t>(parameter.rows * parameter.cols))});
    }
  }
  return all;
}

void save_moments(const Weights& weights, const AdamW& optimizer, const fs::path& path) {
  std::vector<FloatTensor> tensors;
  for (const auto& moment :
       moments(weights.parameters(), optimizer.first_moment(), optimizer.second_moment())) {
    tensors.push_back(
        {moment.name, {moment.parameter->rows, moment.parameter->cols}, moment.values});
  }
  write_safetensors(tensors, path);
}

/// The entries of the file in the order of `expected`; Error if they are not exactly those.
std::vector<const SafetensorsEntry*> matching_entries(const SafetensorsFile& file,
                                                      std::span<const Moment<float>> expected) {
  std::map<std::string_view, const SafetensorsEntry*> by_name;
  for (const SafetensorsEntry& entry : file.entries()) by_name[entry.name] = &entry;
  std::vector<const SafetensorsEntry*> found;
  for (const auto& moment : expected) {
    const auto at = by_name.find(moment.name);
    if (at == by_name.end()) {
      fail(
          "{}: tensor {} is missing; the checkpoint is of another model: resume from one of this "
          "run",
          file.path().string(), moment.name);
    }
    const std::vector<std::int64_t> shape = {moment.parameter->rows, moment.parameter->cols};
    if (at->second->shape != shape || at->second->dtype != "F32") {
      fail(
          "{}: tensor {} is not F32 [{}, {}]; the checkpoint is of another model: resume from one "
          "of "
          "this run",
          file.path().string(), moment.name, shape[0], shape[1]);
    }
    found.push_back(at->second);
  }
  if (found.size() != by_name.size()) {
    fail(
        "{}: {} tensors where {} were expected; the checkpoint is of another model: resume from "
        "one "
        "of this run",
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
  fields.add("every", options.every,
             {"A checkpoint after every so many steps, and after the last; 0: after the last only.",
              "steps", 0});
  fields.add("keep_last", options.keep_last,
             {"Older checkpoints than the last so many are removed; 0: all are kept.", "", 0});
}

fs::path save_checkpoint(const fs::path& checkpoints, const CheckpointContents& contents,
                         std::int64_t keep_last) {
  make_directories(checkpoints);
  remove_leftovers(checkpoints);
  const fs::path complete = checkpoint_path(checkpoints, contents.state.step);
  const fs::path partial = checkpoints / ("." + complete.filename().string() + ".partial");
  make_directories(partial);
  copy_tokenizer(contents.start_model, partial);
  save_weights(contents.weights, partial);
  save_moments(contents.weights, contents.optimizer, partial / kOptimizerFile);
  if (contents.write_more) contents.write_more(partial);
  TrainerState state = contents.state;
  state.optimizer_updates = contents.optimizer.updates();
  state.skipped_updates = contents.optimizer.skipped();
  save_trainer_state(state, partial);
  write_checksums(partial);
  sync_tree(partial);
  if (fs::exists(complete)) remove_checkpoint(complete);
  rename_durably(partial, complete);
  auto all = complete_checkpoints(checkpoints);
  while (keep_last > 0 && static_cast<std::int64_t>(all.size()) > keep_last) {
    remove_checkpoint(all.front().second);
    all.erase(all.begin());
  }
  return complete;
}

fs::path checkpoint_path(const fs::path& checkpoints, std::int64_t step) {
  return checkpoints / fmt::format("{}{:06}", kPrefix, step);
}

std::optional<fs::path> latest_checkpoint(const fs::path& checkpoints) {
  const auto all = complete_checkpoints(checkpoints);
  if (all.empty()) return std::nullopt;
  return all.back().second;
}

TrainerState load_checkpoint(const fs::path& checkpoint, Weights& weights, AdamW& optimizer) {
  const TrainerState state = load_trainer_state(checkpoint);
  const Weights stored = load_weights(checkpoint);
  const bool same_layout = std::equal(
      stored.parameters().begin(), stored.parameters().end(), weights.parameters().begin(),
      weights.parameters().end(), [](const Parameter& a, const Parameter& b) {
        return a.name == b.name && a.rows == b.rows && a.cols == b.cols && a.offset == b.offset;
      });
  if (!same_layout) {
    fail(
        "{}: its parameters are not those of the run's model; resume with the model it was made "
        "from",
        (checkpoint / "config.json").string());
  }
  const SafetensorsFile file(checkpoint / kOptimizerFile);
  const auto expected =
      moments(weights.parameters(), optimizer.first_moment(), optimizer.second_moment());
  const auto entries = matching_entries(file, expected);
  for (std::size_t i = 0; i < entries.size(); ++i) read_floats(*entries[i], expected[i].values);
  std::copy(stored.flat().begin(), stored.flat().end(), weights.flat().begin());
  optimizer.restore_counts(state.optimizer_updates, state.skipped_updates);
  return state;
}

}  // namespace lie
