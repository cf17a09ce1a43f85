#include "learner/checkpoint/checkpoint_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <type_traits>

#include "common/base/error.h"
#include "common/base/fault.h"
#include "common/io/file.h"
#include "common/io/json.h"
#include "common/io/sha256.h"
#include "learner/trainer/optimizer_shards.h"

namespace lie {
namespace {

/// Returns the range of the parameters whose middle element is in the shard: complete parameters of
/// about as many elements.
FlatRange parameters_of(std::span<const Parameter> layout, FlatRange shard) {
  FlatRange range{shard.first, 0};
  for (const Parameter& parameter : layout) {
    const std::int64_t elements = parameter.rows * parameter.cols;
    const std::int64_t middle = parameter.offset + elements / 2;
    if (middle < shard.first || middle >= shard.first + shard.count) continue;
    if (range.count == 0) range.first = parameter.offset;
    range.count = parameter.offset + elements - range.first;
  }
  return range;
}

std::vector<RangeFile> named(std::string_view stem, const std::vector<FlatRange>& ranges) {
  const auto files = std::ranges::count_if(ranges, [](FlatRange range) { return range.count > 0; });
  std::vector<RangeFile> named;
  std::int64_t number = 0;
  for (const FlatRange range : ranges) {
    named.push_back({range});
    if (range.count == 0) continue;
    named.back().name = files == 1
                            ? fmt::format("{}.safetensors", stem)
                            : fmt::format("{}-{:05}-of-{:05}.safetensors", stem, ++number, files);
  }
  return named;
}

}  // namespace

std::vector<CheckpointPart> checkpoint_parts(std::span<const Parameter> layout, int learners) {
  std::vector<FlatRange> parameters, shards;
  for (int learner = 0; learner < learners; ++learner) {
    shards.push_back(optimizer_shard_of(flat_elements(layout), learner, learners));
    parameters.push_back(parameters_of(layout, shards.back()));
  }
  const std::vector<RangeFile> weights = named("model", parameters);
  const std::vector<RangeFile> moments = named("optimizer", shards);
  std::vector<CheckpointPart> parts;
  for (std::size_t i = 0; i < weights.size(); ++i) parts.push_back({weights[i], moments[i]});
  return parts;
}

FlatRange held_range(std::span<const Parameter> layout, int learner, int learners) {
  const auto [weights, moments] =
      checkpoint_parts(layout, learners)[static_cast<std::size_t>(learner)];
  const FlatRange part = weights.range, shard = moments.range;
  if (part.count == 0) return shard;
  const std::int64_t first = std::min(part.first, shard.first);
  return {first, std::max(part.first + part.count, shard.first + shard.count) - first};
}

std::int64_t longest_held_range(std::span<const Parameter> layout, int learners) {
  std::int64_t longest = 0;
  for (int learner = 0; learner < learners; ++learner) {
    longest = std::max(longest, held_range(layout, learner, learners).count);
  }
  return longest;
}

std::vector<std::string> files_of(const CheckpointPart& part) {
  std::vector<std::string> names;
  for (const RangeFile* file : {&part.weights, &part.moments}) {
    if (!file->name.empty()) names.push_back(file->name);
  }
  return names;
}

std::int64_t largest_part(std::span<const Parameter> layout, int learners) {
  std::int64_t largest = 0;
  for (const CheckpointPart& part : checkpoint_parts(layout, learners)) {
    largest = std::max(largest, part.weights.range.count + 2 * part.moments.range.count);
  }
  return largest;
}

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSchemaVersion = 1;
constexpr const char* kStateFile = "trainer_state.json";
constexpr const char* kChecksums = "checksums";

/// Calls use(name, value) for each field of the state, in the order of trainer_state.json.
template <typename State, typename Use>
void each_field(State& state, const Use& use) {
  use("step", state.step);
  use("policy_version", state.policy_version);
  use("optimizer_updates", state.optimizer_updates);
  use("skipped_updates", state.skipped_updates);
  use("seed", state.seed);
  use("build_id", state.build_id);
  use("prompt_stream_epoch", state.prompt_stream.epoch);
  use("prompt_stream_position", state.prompt_stream.position);
}

/// Returns a field of trainer_state.json. Throws Error unless it has the type T.
template <typename T>
T field(const Json& json, const char* key, const fs::path& path) {
  const auto at = json.find(key);
  if (at == json.end()) {
    fail(
        "{}: field \"{}\" is missing; the checkpoint is incomplete or from another program: "
        "remove its directory to resume from the preceding one",
        path.string(), key);
  }
  const bool fits = !std::is_integral_v<T> || at->is_number_integer();
  try {
    if (fits) return at->get<T>();
  } catch (const Json::exception&) {  // another type of value: the error below
  }
  fail(
      "{}: field \"{}\" is {}, expected another type of value; remove the checkpoint's directory "
      "to resume from the preceding one",
      path.string(), key, at->dump());
}

}  // namespace

void save_trainer_state(const TrainerState& state, const fs::path& checkpoint) {
  Json json;
  json["schema_version"] = kSchemaVersion;
  each_field(state, [&](const char* key, const auto& value) { json[key] = value; });
  json[kChecksums] = kChecksumsFile;
  write_json(json, checkpoint / kStateFile);
}

bool promises_checksums(const fs::path& checkpoint) {
  return read_json(checkpoint / kStateFile).contains(kChecksums);
}

TrainerState load_trainer_state(const fs::path& checkpoint) {
  const fs::path path = checkpoint / kStateFile;
  const Json json = read_json(path);
  if (!json.is_object())
    fail("{}: expected a JSON object; this is not a checkpoint", path.string());
  const auto version = field<std::int64_t>(json, "schema_version", path);
  if (version != kSchemaVersion) {
    fail("{}: schema_version {}, expected {}; resume with the program that wrote it", path.string(),
         version, kSchemaVersion);
  }
  TrainerState state;
  each_field(state, [&](const char* key, auto& value) {
    value = field<std::remove_reference_t<decltype(value)>>(json, key, path);
  });
  if (state.step < 0 || state.optimizer_updates < 0 || state.skipped_updates < 0) {
    fail(
        "{}: a count is negative; remove the checkpoint's directory to resume from the preceding "
        "one",
        path.string());
  }
  return state;
}

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFiles = "optimizer";  // beginning of the file names
constexpr std::array<std::string_view, 2> kMoments = {"first_moment.", "second_moment."};

std::array<Tensor, 2> moments_of(const AdamW& optimizer) {
  return {optimizer.first_moment(), optimizer.second_moment()};
}

/// Returns the tensors of both moments for a range of the flat order.
std::vector<TensorShape> shapes_of(std::span<const Parameter> layout, FlatRange range) {
  std::vector<TensorShape> shapes;
  for (const std::string_view moment : kMoments) {
    for (const auto& [parameter, first, at, count] : pieces_of(layout, range)) {
      const bool is_whole = count == parameter->rows * parameter->cols;
      shapes.push_back({std::string(moment) + parameter->name, {count}});
      if (is_whole) shapes.back().shape = {parameter->rows, parameter->cols};
    }
  }
  return shapes;
}

std::int64_t elements_of(const SafetensorsEntry& piece) {
  return std::ssize(piece.data) / std::int64_t{sizeof(float)};
}

std::vector<SafetensorsFile> open_files(const fs::path& checkpoint) {
  std::vector<SafetensorsFile> files;
  for (const std::string& name : list_directory(checkpoint)) {
    if (name.starts_with(kFiles)) files.emplace_back(checkpoint / name);
  }
  if (!files.empty()) return files;
  fail("{}: {}.safetensors is missing; remove the checkpoint to resume from the preceding one",
       checkpoint.string(), kFiles);
}

}  // namespace

void save_moments(const AdamW& optimizer, const Weights& weights, const fs::path& file) {
  const auto pieces = pieces_of(weights.parameters(), optimizer.shard());
  SafetensorsWriter writer(file, shapes_of(weights.parameters(), optimizer.shard()));
  for (const Tensor moment : moments_of(optimizer)) {
    pass_fault_point("checkpoint");
    for (const ParameterPiece& piece : pieces) {
      read_blocks(weights.operators(), moment.elements_at(piece.at, piece.count),
                  [&](std::span<const float> values) { writer.append(values); });
    }
  }
  writer.close();
}

StoredMoments::StoredMoments(const fs::path& checkpoint, std::span<const Parameter> layout)
    : layout_(layout), files_(open_files(checkpoint)), pieces_(matching(checkpoint)) {}

bool StoredMoments::fit(const Pieces& pieces, const TensorShape& moment) {
  std::int64_t elements = 0;
  for (const SafetensorsEntry* piece : pieces) {
    if (piece->dtype != "F32") return false;
    elements += elements_of(*piece);
  }
  if (pieces.size() == 1) return pieces.front()->shape == moment.shape;
  return elements == moment.shape[0] * moment.shape[1];
}

/// Returns the pieces of all moments. Throws Error unless the files hold exactly these.
std::vector<StoredMoments::Pieces> StoredMoments::matching(const fs::path& checkpoint) const {
  std::map<std::string_view, Pieces> by_name;
  for (const SafetensorsFile& file : files_) {
    for (const SafetensorsEntry& entry : file.entries()) by_name[entry.name].push_back(&entry);
  }
  const std::string where = files_.size() == 1 ? files_[0].path().string()
                                               : fmt::format("{} ({} files of moments)",
                                                             checkpoint.string(), files_.size());
  constexpr std::string_view kRemedy =
      "the checkpoint belongs to another model: resume from one of this run";
  std::vector<Pieces> found;
  for (const TensorShape& moment : shapes_of(layout_, {0, flat_elements(layout_)})) {
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

/// Sets `to` to the elements of a moment from `first` on.
void StoredMoments::read_pieces(Operators& operators, const Pieces& pieces, std::int64_t first,
                                Tensor to) {
  std::int64_t begin = 0;  // of the piece
  for (const SafetensorsEntry* piece : pieces) {
    const std::int64_t end = begin + elements_of(*piece);
    const std::int64_t from = std::max(first, begin), until = std::min(first + to.elements(), end);
    if (from < until) {
      read_entry(operators, *piece, from - begin, to.elements_at(from - first, until - from));
    }
    begin = end;
  }
}

void StoredMoments::read(const AdamW& optimizer, Operators& operators) const {
  std::span<const Pieces> stored = pieces_;
  for (const Tensor moment : moments_of(optimizer)) {
    for (const ParameterPiece& piece : pieces_of(layout_, optimizer.shard())) {
      const auto number = static_cast<std::size_t>(piece.parameter - layout_.data());
      read_pieces(operators, stored[number], piece.first,
                  moment.elements_at(piece.at, piece.count));
    }
    stored = stored.subspan(layout_.size());
  }
}

}  // namespace lie
