#include "common/trajectory/column_file.h"

#include <algorithm>

#include "common/base/error.h"
#include "common/io/file.h"

namespace lie {
namespace {

using schema::ColumnInfo;

h5::Handle column_layout(const ColumnInfo& column) {
  h5::Handle layout(h5::checked_id(H5Pcreate(H5P_DATASET_CREATE), "create layout"), H5Pclose);
  const hsize_t chunk = schema::chunk_rows(column.table);
  h5::check(H5Pset_chunk(layout.id(), 1, &chunk), "set chunks");
  h5::check(H5Pset_shuffle(layout.id()), "set shuffle");
  // Compress columns that shrink little, too: a chunk that grows is then moved to a new place in
  // the file. If it were overwritten in place, its checksum would not match for a concurrent reader
  // or after a kill.
  h5::check(H5Pset_deflate(layout.id(), 1), "set deflate");
  h5::check(H5Pset_fletcher32(layout.id()), "set checksums");
  h5::check(H5Pset_obj_track_times(layout.id(), false), "set no times");
  return layout;
}

h5::Handle create_dataset(hid_t file, const fs::path& path, const ColumnInfo& column) {
  const hsize_t none = 0;
  const hsize_t unlimited = H5S_UNLIMITED;
  const h5::Handle space(h5::checked_id(H5Screate_simple(1, &none, &unlimited), "create extent"),
                         H5Sclose);
  const h5::Handle groups(h5::checked_id(H5Pcreate(H5P_LINK_CREATE), "create link list"), H5Pclose);
  h5::check(H5Pset_create_intermediate_group(groups.id(), 1), "set intermediate groups");
  const h5::Handle layout = column_layout(column);
  const h5::Handle access = h5::column_access();
  h5::Handle dataset(H5Dcreate2(file, column.path, h5::type_of(column.type), space.id(),
                                groups.id(), layout.id(), access.id()),
                     H5Dclose);
  if (!dataset) h5::fail_to_write(path, column.path);
  h5::write_attribute(dataset.id(), "unit", std::string_view(column.unit));
  h5::write_attribute(dataset.id(), "about", std::string_view(column.about));
  return dataset;
}

std::string joined_names(const RewardNames& rewards) {
  std::vector<std::string> names;
  for (const RewardName& reward : rewards) names.push_back(reward.name);
  return fmt::format("{}", fmt::join(names, ","));
}

void write_info(hid_t file, const TrajectoryInfo& info) {
  namespace name = schema::attribute;
  h5::write_attribute(file, name::kSchemaVersion, schema::kVersion);
  h5::write_attribute(file, name::kBuildId, std::string_view(info.build_id));
  h5::write_attribute(file, name::kConfig, std::string_view(info.config));
  h5::write_attribute(file, name::kSeed, info.seed);
  h5::write_attribute(file, name::kModelSha256, std::string_view(info.model_sha256));
  h5::write_attribute(file, name::kTokenizerSha256, std::string_view(info.tokenizer_sha256));
  h5::write_attribute(file, name::kLearnerRank, info.learner_rank);
  h5::write_attribute(file, name::kLearnerCount, info.learner_count);
  h5::write_attribute(file, name::kStartsAfter, info.starts_after_step);
  h5::write_attribute(file, name::kRewardTerms, std::string_view(joined_names(info.rewards)));
  const std::string numbers = fmt::format("{}", fmt::join(info.numbers, ","));
  h5::write_attribute(file, name::kNumbers, std::string_view(numbers));
  if (info.token_versions) h5::write_attribute(file, name::kTokenVersions, std::int64_t{1});
  if (info.drawn_groups) h5::write_attribute(file, name::kDrawnGroups, std::int64_t{1});
  h5::write_attribute(file, name::kChecksum, schema::info_checksum(info));
}

}  // namespace

ColumnFile::ColumnFile(const fs::path& path, const TrajectoryInfo& info)
    : path_(path), file_(h5::create_file(path)) {
  write_info(file_.id(), info);
  schema::for_each_column(info, [this](const ColumnInfo& column) { create_column(column); });
}

void ColumnFile::appear_as(const fs::path& path) {
  flush();
  if (H5Fstart_swmr_write(file_.id()) < 0) h5::fail_to_write(path_, "the mark of a live file");
  rename_durably(path_, path);
  path_ = path;
}

void ColumnFile::create_column(const ColumnInfo& column) {
  columns_.push_back(
      {column.path, h5::type_of(column.type), create_dataset(file_.id(), path_, column), 0});
}

void ColumnFile::append_bytes(std::string_view path, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  OpenColumn& open = *std::ranges::find(columns_, path, &OpenColumn::path);
  const hsize_t first = open.rows;
  const hsize_t size = bytes.size() / H5Tget_size(open.type);
  open.rows += size;
  const hsize_t rows = open.rows;
  if (H5Dset_extent(open.dataset.id(), &rows) < 0) h5::fail_to_write(path_, path);
  const h5::Handle target(h5::checked_id(H5Dget_space(open.dataset.id()), path), H5Sclose);
  h5::check(H5Sselect_hyperslab(target.id(), H5S_SELECT_SET, &first, nullptr, &size, nullptr),
            path);
  const h5::Handle source(h5::checked_id(H5Screate_simple(1, &size, nullptr), path), H5Sclose);
  if (H5Dwrite(open.dataset.id(), open.type, source.id(), target.id(), H5P_DEFAULT, bytes.data()) <
      0) {
    h5::fail_to_write(path_, path);
  }
}

void ColumnFile::flush() {
  if (H5Fflush(file_.id(), H5F_SCOPE_LOCAL) < 0) h5::fail_to_write(path_, "what was appended");
}

void ColumnFile::close() {
  if (!is_open()) return;
  for (OpenColumn& column : columns_) column.dataset.close(path_);
  file_.close(path_);
  sync_file(path_);
  sync_directory(fs::absolute(path_).parent_path());
}

}  // namespace lie
