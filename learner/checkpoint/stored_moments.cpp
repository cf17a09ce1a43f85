#include "learner/checkpoint/stored_moments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>

#include "common/base/error.h"
#include "common/base/fault.h"
#include "common/io/file.h"
#include "model/weights/host_blocks.h"

namespace lie {
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
      read_blocks(optimizer.moment_operators(), moment.elements_at(piece.at, piece.count),
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

void StoredMoments::read(const AdamW& optimizer) const {
  std::span<const Pieces> stored = pieces_;
  for (const Tensor moment : moments_of(optimizer)) {
    for (const ParameterPiece& piece : pieces_of(layout_, optimizer.shard())) {
      const auto number = static_cast<std::size_t>(piece.parameter - layout_.data());
      read_pieces(optimizer.moment_operators(), stored[number], piece.first,
                  moment.elements_at(piece.at, piece.count));
    }
    stored = stored.subspan(layout_.size());
  }
}

}  // namespace lie
