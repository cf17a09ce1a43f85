#include "common/trajectory/hdf5.h"

#include <sys/resource.h>

#include <algorithm>

#include "common/base/error.h"

namespace lie::h5 {

namespace {

herr_t keep_innermost(unsigned depth, const H5E_error2_t* error, void* out) {
  if (depth == 0) *static_cast<std::string*>(out) = error->desc != nullptr ? error->desc : "";
  return 0;
}

/// Returns the operating system's message from HDF5's two-line description of a failed system call.
/// Returns other reasons unchanged.
std::string system_message(std::string reason) {
  constexpr std::string_view kBefore = "error message = '";
  const std::size_t before = reason.find(kBefore);
  if (before == std::string::npos) return reason;
  reason.erase(0, before + kBefore.size());
  return reason.substr(0, reason.find('\''));
}

/// Returns a string type of fixed size, padded with zeros. Strings of fixed size are stored where
/// HDF5 verifies a checksum.
Handle text_type(std::size_t size) {
  Handle type(checked_id(H5Tcopy(H5T_C_S1), "copy string type"), H5Tclose);
  check(H5Tset_size(type.id(), size), "set string size");
  check(H5Tset_strpad(type.id(), H5T_STR_NULLPAD), "set string padding");
  check(H5Tset_cset(type.id(), H5T_CSET_UTF8), "set string encoding");
  return type;
}

[[noreturn]] void fail_to_write(const std::filesystem::path& file, std::string_view what,
                                std::string_view reason) {
  throw TransientError(fmt::format("{}: cannot write {}: {}; check the disk and its quota",
                                   file.string(), what, reason));
}

std::string file_of(hid_t object) {
  const ssize_t length = H5Fget_name(object, nullptr, 0);
  if (length < 0) return "a trajectory file";  // HDF5 itself fails
  std::string name(static_cast<std::size_t>(length) + 1, '\0');
  H5Fget_name(object, name.data(), name.size());
  name.pop_back();
  return name;
}

void write_scalar(hid_t object, const char* name, hid_t in_file, hid_t in_memory,
                  const void* value) {
  Handle space(checked_id(H5Screate(H5S_SCALAR), "create scalar space"), H5Sclose);
  Handle attribute(H5Acreate2(object, name, in_file, space.id(), H5P_DEFAULT, H5P_DEFAULT),
                   H5Aclose);
  if (!attribute || H5Awrite(attribute.id(), in_memory, value) < 0) {
    const std::string reason = last_reason();  // the next call would clear it
    fail_to_write(file_of(object), fmt::format("attribute {}", name), reason);
  }
}

Handle open_attribute(hid_t object, const char* name, H5T_class_t kind, std::string_view file) {
  Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  if (!attribute) {
    fail("{}: attribute {} is missing; not a trajectory file of this program?", file, name);
  }
  Handle type(checked_id(H5Aget_type(attribute.id()), name), H5Tclose);
  if (H5Tget_class(type.id()) != kind) fail("{}: attribute {} has another type", file, name);
  return attribute;
}

void read_attribute(hid_t attribute, hid_t type, void* value, const char* name,
                    std::string_view file) {
  if (H5Aread(attribute, type, value) < 0) {
    fail("{}: attribute {} cannot be read: {}; the file is damaged", file, name, last_reason());
  }
}

}  // namespace

void Handle::close(const std::filesystem::path& file) {
  if (id_ >= 0 && closer_(std::exchange(id_, H5I_INVALID_HID)) < 0) fail_to_write(file, "its end");
}

std::string last_reason() {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_innermost, &reason);
  return reason.empty() ? "no reason given" : system_message(std::move(reason));
}

void fail_to_write(const std::filesystem::path& file, std::string_view what) {
  fail_to_write(file, what, last_reason());
}

hid_t checked_id(hid_t id, std::string_view what) {
  if (id < 0) fail("HDF5: {}: {}", what, last_reason());
  return id;
}

void check(herr_t status, std::string_view what) {
  if (status < 0) fail("HDF5: {}: {}", what, last_reason());
}

void silence() {
  H5dont_atexit();  // later calls have no effect and need none
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Handle file_access() {
  silence();
  Handle access(checked_id(H5Pcreate(H5P_FILE_ACCESS), "create access list"), H5Pclose);
  check(H5Pset_libver_bounds(access.id(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST),
        "set format version");
  // A reader that finds a block while it is being written tries again. Each wait is twice as long
  // as the previous one, from 1 ns on. HDF5's default of 100 attempts would hang on a damaged
  // block.
  check(H5Pset_metadata_read_attempts(access.id(), 25), "set read attempts");
  check(H5Pset_file_locking(access.id(), true, true), "set file locking");
  return access;
}

Handle column_access() {
  Handle access(checked_id(H5Pcreate(H5P_DATASET_ACCESS), "create access"), H5Pclose);
  constexpr std::size_t kSlots = 31;
  constexpr std::size_t kBytes = 64 << 10;
  check(H5Pset_chunk_cache(access.id(), kSlots, kBytes, H5D_CHUNK_CACHE_W0_DEFAULT),
        "set chunk cache");
  return access;
}

Handle create_file(const std::filesystem::path& path) {
  const Handle access = file_access();
  Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), H5Fclose);
  if (!file) {
    fail("{}: cannot create: {}; check that the directory exists, is writable and has free space",
         path.string(), last_reason());
  }
  return file;
}

hid_t type_of(schema::ElementType type) {
  switch (type) {
    case schema::ElementType::kUint8: return H5T_STD_U8LE;
    case schema::ElementType::kInt32: return H5T_STD_I32LE;
    case schema::ElementType::kInt64: return H5T_STD_I64LE;
    case schema::ElementType::kFloat32: return H5T_IEEE_F32LE;
    case schema::ElementType::kFloat64: return H5T_IEEE_F64LE;
  }
  return H5I_INVALID_HID;
}

void write_attribute(hid_t object, const char* name, std::string_view text) {
  const std::string padded = text.empty() ? std::string(1, '\0') : std::string(text);
  const Handle type = text_type(padded.size());
  write_scalar(object, name, type.id(), type.id(), padded.data());
}

void write_attribute(hid_t object, const char* name, std::int64_t value) {
  write_scalar(object, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}

void write_attribute(hid_t object, const char* name, std::uint64_t value) {
  write_scalar(object, name, H5T_STD_U64LE, H5T_NATIVE_UINT64, &value);
}

std::string read_text_attribute(hid_t object, const char* name, std::string_view file) {
  const Handle attribute = open_attribute(object, name, H5T_STRING, file);
  const Handle stored(checked_id(H5Aget_type(attribute.id()), name), H5Tclose);
  if (H5Tis_variable_str(stored.id()) > 0) fail("{}: attribute {} has another type", file, name);
  std::string text(H5Tget_size(stored.id()), '\0');
  read_attribute(attribute.id(), stored.id(), text.data(), name, file);
  text.erase(text.find_last_not_of('\0') + 1);
  return text;
}

std::int64_t read_int_attribute(hid_t object, const char* name, std::string_view file) {
  const Handle attribute = open_attribute(object, name, H5T_INTEGER, file);
  std::int64_t value = 0;
  read_attribute(attribute.id(), H5T_NATIVE_INT64, &value, name, file);
  return value;
}

std::uint64_t read_uint_attribute(hid_t object, const char* name, std::string_view file) {
  const Handle attribute = open_attribute(object, name, H5T_INTEGER, file);
  std::uint64_t value = 0;
  read_attribute(attribute.id(), H5T_NATIVE_UINT64, &value, name, file);
  return value;
}

std::uint64_t row_count(hid_t dataset) {
  const Handle space(checked_id(H5Dget_space(dataset), "get extent"), H5Sclose);
  hsize_t rows = 0;
  if (H5Sget_simple_extent_ndims(space.id()) != 1) fail("HDF5: a column must have one dimension");
  H5Sget_simple_extent_dims(space.id(), &rows, nullptr);
  return rows;
}

namespace {

namespace fs = std::filesystem;
using schema::ColumnInfo;

Handle open_file(const fs::path& path) {
  if (!fs::is_regular_file(path)) fail("{}: no such file", path.string());
  const Handle access = file_access();
  Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access.id()), H5Fclose);
  if (!file) {
    fail(
        "{}: cannot be read as a trajectory file: {}; it is damaged or from another program: "
        "remove it or restore it",
        path.string(), last_reason());
  }
  return file;
}

Handle open_column(hid_t file, const ColumnInfo& column, const std::string& path) {
  const Handle access = column_access();
  Handle dataset(H5Dopen2(file, column.path, access.id()), H5Dclose);
  if (!dataset) {
    fail("{}: column {} cannot be opened: {}; the file is damaged", path, column.path,
         last_reason());
  }
  const Handle type(checked_id(H5Dget_type(dataset.id()), column.path), H5Tclose);
  if (H5Tequal(type.id(), type_of(column.type)) <= 0) {
    fail("{}: column {} has another element type than schema version {} defines", path, column.path,
         schema::kVersion);
  }
  return dataset;
}

}  // namespace

std::size_t OpenFiles::default_limit() {
  rlimit files = {};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return 16;
  return std::clamp<std::size_t>(files.rlim_cur / 4, 1, 64);
}

OpenFiles::File& OpenFiles::open(const fs::path& path) {
  const auto found = std::ranges::find_if(
      files_, [&](const File& file) { return file.path.native() == path.native(); });
  if (found != files_.end()) {
    files_.splice(files_.begin(), files_, found);
    return files_.front();
  }
  if (files_.size() == limit_) files_.pop_back();
  files_.push_front({path, open_file(path), {}});
  return files_.front();
}

hid_t OpenFiles::column(const fs::path& path, const ColumnInfo& column) {
  File& file = open(path);
  Handle& dataset = file.columns[column.path];
  if (!dataset) dataset = open_column(file.file.id(), column, path.string());
  return dataset.id();
}

}  // namespace lie::h5
