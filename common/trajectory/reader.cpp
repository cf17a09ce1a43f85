#include "common/trajectory/reader.h"

#include <algorithm>
#include <numeric>
#include <sstream>
#include <string_view>
#include <utility>

#include "common/base/error.h"
#include "common/trajectory/hdf5.h"

namespace lie {

namespace fs = std::filesystem;
using schema::ColumnInfo, schema::Table;

namespace {

std::vector<std::string> read_names(hid_t file, const char* attribute, const std::string& path) {
  std::istringstream text(h5::read_text_attribute(file, attribute, path));
  std::vector<std::string> names;
  for (std::string name; std::getline(text, name, ',');) names.push_back(name);
  return names;
}

RewardNames read_reward_names(h5::OpenFiles& files, const fs::path& path) {
  RewardNames rewards;
  for (const std::string& name :
       read_names(files.file(path), schema::attribute::kRewardTerms, path.string())) {
    const auto named = schema::reward_column(name);
    const hid_t column = files.column(path, schema::F32(named));
    rewards.push_back({name, h5::read_text_attribute(column, "about", path.string())});
  }
  return rewards;
}

TrajectoryInfo read_info(h5::OpenFiles& files, const fs::path& of) {
  const std::string path = of.string();
  const hid_t file = files.file(of);
  namespace name = schema::attribute;
  const std::int64_t version = h5::read_int_attribute(file, name::kSchemaVersion, path);
  if (version != schema::kVersion) {
    fail("{}: schema version {}, but this program reads version {}; use the program that wrote it",
         path, version, schema::kVersion);
  }
  TrajectoryInfo info;
  info.build_id = h5::read_text_attribute(file, name::kBuildId, path);
  info.config = h5::read_text_attribute(file, name::kConfig, path);
  info.seed = h5::read_uint_attribute(file, name::kSeed, path);
  info.model_sha256 = h5::read_text_attribute(file, name::kModelSha256, path);
  info.tokenizer_sha256 = h5::read_text_attribute(file, name::kTokenizerSha256, path);
  info.learner_rank = h5::read_int_attribute(file, name::kLearnerRank, path);
  info.learner_count = h5::read_int_attribute(file, name::kLearnerCount, path);
  info.starts_after_step = h5::read_int_attribute(file, name::kStartsAfter, path);
  info.rewards = read_reward_names(files, of);
  info.numbers = read_names(file, name::kNumbers, path);
  info.token_versions = H5Aexists(file, name::kTokenVersions) > 0;
  info.drawn_groups = H5Aexists(file, name::kDrawnGroups) > 0;
  if (H5Aexists(file, name::kChecksum) > 0 &&
      h5::read_uint_attribute(file, name::kChecksum, path) != schema::info_checksum(info)) {
    fail("{}: its attributes do not match {}; the file is damaged", path, name::kChecksum);
  }
  return info;
}

void check_ascend(const std::vector<std::int64_t>& values, const ColumnInfo& column,
                  const fs::path& path) {
  if (!std::ranges::is_sorted(values) || (!values.empty() && values.front() < 0)) {
    fail("{}: the values of {} do not ascend; the file is damaged", path.string(), column.path);
  }
}

}  // namespace

SegmentReader::SegmentReader(const fs::path& path, std::shared_ptr<h5::OpenFiles> files)
    : path_(path),
      files_(files ? std::move(files) : std::make_shared<h5::OpenFiles>(1)),
      info_(read_info(*files_, path)) {
  // Open this column first, so that columns opened later contain the rows that it refers to.
  Ends& step_rows = ends_of(Table::kStep);
  step_rows.resize(h5::row_count(files_->column(path_, schema::step::kStep)));
  std::iota(step_rows.begin(), step_rows.end(), 1);
  steps_ = read(schema::step::kStep);
  read_ends();
}

std::int64_t SegmentReader::rows(Table table) const {
  const auto& ends = ends_of(table);
  return ends.empty() ? 0 : ends.back();
}

RowRange SegmentReader::rows_of_step(Table table, std::size_t index) const {
  const auto& ends = ends_of(table);
  const std::int64_t first = index == 0 ? 0 : ends.at(index - 1);
  return {first, ends.at(index) - first};
}

bool SegmentReader::has(const ColumnInfo& column) const {
  bool found = false;
  schema::for_each_column(info(), [&](const ColumnInfo& other) {
    found = found || std::string_view(other.path) == column.path;
  });
  return found;
}

void SegmentReader::read_ends() {
  check_ascend(steps_, schema::step::kStep, path_);
  for (const auto& [table, column] : schema::kStepEnds) {
    auto& ends = ends_of(table);
    if (!has(*column)) {
      ends.assign(steps_.size(), 0);
      continue;
    }
    ends = read(*column);
    check_ascend(ends, *column, path_);
  }
}

void SegmentReader::check_range(const ColumnInfo& column, RowRange range) const {
  const auto [first, count] = range;
  if (first < 0 || count < 0 || first + count > rows(column.table)) {
    fail("{}: {} has {} rows, but rows {} to {} were requested; the file is damaged",
         path_.string(), column.path, rows(column.table), first, first + count);
  }
}

void SegmentReader::read_raw(const ColumnInfo& column, RowRange range, void* values) const {
  const auto [first, count] = range;
  if (count == 0) return;
  const hid_t dataset = files_->column(path_, column);
  const auto start = static_cast<hsize_t>(first);
  const auto size = static_cast<hsize_t>(count);
  const h5::Handle source(h5::checked_id(H5Dget_space(dataset), column.path), H5Sclose);
  const h5::Handle target(h5::checked_id(H5Screate_simple(1, &size, nullptr), column.path),
                          H5Sclose);
  h5::check(H5Sselect_hyperslab(source.id(), H5S_SELECT_SET, &start, nullptr, &size, nullptr),
            column.path);
  if (H5Dread(dataset, h5::type_of(column.type), target.id(), source.id(), H5P_DEFAULT, values) <
      0) {
    fail("{}: rows {} to {} of {} cannot be read: {}; the file is damaged", path_.string(), first,
         first + count, column.path, h5::last_reason());
  }
}

std::vector<std::byte> SegmentReader::read_bytes(const ColumnInfo& column, RowRange range) const {
  check_range(column, range);
  std::vector<std::byte> bytes(static_cast<std::size_t>(range.count) *
                               H5Tget_size(h5::type_of(column.type)));
  read_raw(column, range, bytes.data());
  return bytes;
}

bool SegmentReader::ends_with_a_step() const {
  bool ends = true;
  schema::for_each_column(info(), [&](const ColumnInfo& column) {
    const auto rows_there = static_cast<std::int64_t>(h5::row_count(files_->column(path_, column)));
    ends = ends && rows_there == rows(column.table);
  });
  return ends;
}

std::string SegmentReader::text(std::int64_t offset, std::int32_t count) const {
  const auto bytes = read(schema::text::kBytes, offset, count);
  return std::string(bytes.begin(), bytes.end());
}

bool is_of_another_version(const fs::path& path) try {
  h5::OpenFiles files(1);
  const char* name = schema::attribute::kSchemaVersion;
  return h5::read_int_attribute(files.file(path), name, path.string()) != schema::kVersion;
} catch (const Error&) {
  return false;
}

SegmentDamage damage_of(const SegmentReader& file) {
  SegmentDamage damage;
  schema::for_each_column(file.info(), [&](const schema::ColumnInfo& column) {
    for (std::size_t i = 0; i < file.steps().size(); ++i) {
      try {
        file.read_bytes(column, file.rows_of_step(column.table, i));
      } catch (const Error& error) {
        if (damage.fault.empty()) damage.fault = error.what();
        damage.columns.insert(column.path);
        damage.steps.insert(file.steps()[i]);
      }
    }
  });
  return damage;
}

}  // namespace lie
