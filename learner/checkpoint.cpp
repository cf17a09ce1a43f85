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
constexpr std::string_view kMoments = "optimizer";  // beginning of file names
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

/// Of what a shard holds of them.
std::vector<TensorShape> moment_shapes(const Weights& weights, const AdamW& optimizer,
                                       FlatRange shard) {
  std::vector<TensorShape> shapes;
  for (const auto& [prefix, flat] : moments(optimizer)) {
    for (const ParameterPiece& piece : pieces_of(weights.parameters(), shard)) {
      const Parameter& parameter = *piece.parameter;
      shapes.push_back({std::string(prefix) + parameter.name, {parameter.rows, parameter.cols}});
      if (piece.count != parameter.rows * parameter.cols) shapes.back().shape = {piece.count};
    }
  }
  return shapes;
}

void copy_tokenizer(const fs::path& from, const fs::path& to) {
  for (const char* name : kTokenizerFiles) {
    if (fs::is_regular_file(from / name)) write_file_atomically(to / name, read_file(from / name));
  }
}

void save_moments(const Weights& weights, const AdamW& optimizer, const fs::path& path) {
  SafetensorsWriter writer(path, moment_shapes(weights, optimizer, optimizer.shard()));
  for (const auto& [prefix, flat] : moments(optimizer)) {
    pass_fault_point("checkpoint");
    for (const ParameterPiece& piece : pieces_of(weights.parameters(), optimizer.shard())) {
      read_parts(weights.operators(), flat.elements_at(piece.at, piece.count),
                 [&](std::span<const float> values) { writer.append(values); });
    }
  }
  writer.close();
}

std::vector<SafetensorsFile> moment_files(const fs::path& checkpoint) {
  std::vector<SafetensorsFile> files;
  for (const std::string& name : list_directory(checkpoint)) {
    if (name.starts_with(kMoments)) files.emplace_back(checkpoint / name);
  }
  if (files.empty()) {
    fail("{}: {}.safetensors is missing; remove the checkpoint to resume from the one before",
         checkpoint.string(), kMoments);
  }
  return files;
}

/// A moment of one parameter: whole, or in pieces end to end.
using MomentPieces = std::vector<const SafetensorsEntry*>;

bool fit(const MomentPieces& pieces, const TensorShape& whole) {
  std::int64_t elements = 0;
  for (const SafetensorsEntry* piece : pieces) {
    if (piece->dtype != "F32") return false;
    elements += std::ssize(piece->data) / std::int64_t{sizeof(float)};
  }
  if (pieces.size() == 1) return pieces.front()->shape == whole.shape;
  return elements == whole.shape[0] * whole.shape[1];
}

/// What the files hold, in the order of `expected`; Error if it is not exactly that.
std::vector<MomentPieces> matching_pieces(const fs::path& checkpoint,
                                          std::span<const SafetensorsFile> files,
                                          std::span<const TensorShape> expected) {
  std::map<std::string_view, MomentPieces> by_name;
  for (const SafetensorsFile& file : files) {
    for (const SafetensorsEntry& entry : file.entries()) by_name[entry.name].push_back(&entry);
  }
  const std::string where = files.size() == 1 ? files[0].path().string()
                                              : fmt::format("{} ({} files of moments)",
                                                            checkpoint.string(), files.size());
  constexpr std::string_view kRemedy =
      "the checkpoint is of another model: resume from one of this run";
  std::vector<MomentPieces> found;
  for (const TensorShape& moment : expected) {
    const auto at = by_name.find(moment.name);
    if (at == by_name.end()) fail("{}: tensor {} is missing; {}", where, moment.name, kRemedy);
    if (!fit(at->second, moment)) {
      fail("{}: tensor {} is not F32 [{}, {}]; {}", where, moment.name, moment.shape[0],
           moment.shape[1], kRemedy);
    }
    found.push_back(at->second);
  }
  if (found.size() != by_name.size()) {
    fail("{}: {} tensors where {} were expected; {}", where, by_name.size(), found.size(), kRemedy);
  }
  return found;
}

/// Sets `to` from the elements of the whole moment from `first` on.
void read_pieces(Operators& operators, const MomentPieces& pieces, std::int64_t first, Tensor to) {
  std::int64_t begin = 0;  // of the piece
  for (const SafetensorsEntry* piece : pieces) {
    const std::int64_t end = begin + std::ssize(piece->data) / std::int64_t{sizeof(float)};
    const std::int64_t from = std::max(first, begin), until = std::min(first + to.elements(), end);
    if (from < until) {
      read_entry(operators, *piece, from - begin, to.elements_at(from - first, until - from));
    }
    begin = end;
  }
}

/// The optimizer's shard from what the entries of moment_shapes() consist of.
void read_moments(std::span<const MomentPieces> stored, const Weights& weights,
                  const AdamW& optimizer) {
  const std::span<const Parameter> layout = weights.parameters();
  for (const auto& [prefix, flat] : moments(optimizer)) {
    for (const ParameterPiece& piece : pieces_of(layout, optimizer.shard())) {
      const auto number = static_cast<std::size_t>(piece.parameter - layout.data());
      read_pieces(weights.operators(), stored[number], piece.first,
                  flat.elements_at(piece.at, piece.count));
    }
    stored = stored.subspan(layout.size());
  }
}

/// What learner 0 writes besides its part.
void save_rest(const CheckpointContents& contents, std::span<const CheckpointPart> parts,
               const fs::path& directory) {
  const Weights& weights = contents.weights;
  copy_tokenizer(contents.start_model, directory);
  save_generation_config(weights.config(), contents.start_model, directory);
  save_model_config(weights.config(), directory);
  std::vector<RangeFile> files;
  for (const CheckpointPart& part : parts) {
    if (!part.weights.name.empty()) files.push_back(part.weights);
  }
  if (files.size() > 1) save_weights_index(weights.parameters(), files, directory);
  TrainerState state = contents.state;
  state.optimizer_updates = contents.optimizer.updates();
  state.skipped_updates = contents.optimizer.skipped();
  save_trainer_state(state, directory);
  if (contents.coverage) contents.coverage->save(directory);
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

void describe(FieldList& fields, CheckpointOptions& options) {
  fields.add(
      "every", options.every,
      {"Steps between checkpoints; there is one after the last step in any case. 0: that one only. "
       "After a kill, the steps behind the last are learned again from the log.",
       "steps", 0});
  fields.add("keep_last", options.keep_last,
             {"Keep this many of the latest checkpoints; 0: all.", "", 0});
  fields.add(
      "background", options.background,
      {"Write a checkpoint beside the next steps, from a copy for which the learners together "
       "hold 12 bytes a parameter of host memory. Off: training waits until it is written."});
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
    save_moments(contents.weights, contents.optimizer, partial / part.moments.name);
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

fs::path save_checkpoint(const fs::path& checkpoints, const CheckpointContents& contents) {
  const auto parts = checkpoint_parts(contents.weights.parameters(), 1);
  begin_checkpoint(checkpoints, contents.state.step);
  return complete_checkpoint(checkpoints, contents.state.step,
                             write_checkpoint_part(checkpoints, contents, parts, 0));
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

std::optional<fs::path> latest_checkpoint(const fs::path& checkpoints, std::int64_t at_most) {
  auto all = complete_checkpoints(checkpoints);
  std::erase_if(all, [&](const auto& entry) { return entry.first > at_most; });
  if (all.empty()) return std::nullopt;
  return all.back().second;
}

TrainerState load_checkpoint(const fs::path& checkpoint, Weights& weights, AdamW& optimizer) {
  const TrainerState state = load_trainer_state(checkpoint);
  check_weights(checkpoint, weights);
  const std::vector<SafetensorsFile> files = moment_files(checkpoint);
  const FlatRange all{0, flat_elements(weights.parameters())};
  const auto stored = matching_pieces(checkpoint, files, moment_shapes(weights, optimizer, all));
  read_weights(checkpoint, weights);
  read_moments(stored, weights, optimizer);
  optimizer.restore_counts(state.optimizer_updates, state.skipped_updates);
  return state;
}

}  // namespace lie
