// HDF5 handles that close automatically, HDF5 return codes as lie::Error, and a limited number of
// trajectory files that are open for reading. Only .cpp files of this folder include this header.
// Only one thread of a process uses the library.
#pragma once

#include <hdf5.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "common/trajectory/schema.h"

namespace lie::h5 {

/// Owns an HDF5 identifier. Move-only. The destructor closes it and ignores errors; close() throws
/// them, with the file's name and HDF5's reason.
class Handle {
 public:
  using Closer = herr_t (*)(hid_t);
  Handle() = default;
  Handle(hid_t id, Closer closer) : id_(id), closer_(closer) {}
  Handle(Handle&& other) noexcept
      : id_(std::exchange(other.id_, H5I_INVALID_HID)), closer_(other.closer_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(closer_, other.closer_);
    return *this;
  }
  ~Handle() {
    if (id_ >= 0) closer_(id_);
  }
  hid_t id() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }
  void close(const std::filesystem::path& file);

 private:
  hid_t id_ = H5I_INVALID_HID;
  Closer closer_ = nullptr;
};

/// Return or accept the value if it is not an error. Otherwise they throw Error with the attempted
/// action and HDF5's innermost reason.
hid_t checked_id(hid_t id, std::string_view what);
void check(herr_t status, std::string_view what);
std::string last_reason();
/// Throws Error that names the file, the part that cannot be written, HDF5's innermost reason and
/// the remedy.
[[noreturn]] void fail_to_write(const std::filesystem::path& file, std::string_view what);
/// Must be called before any other HDF5 function. It stops HDF5 from printing error stacks, because
/// reasons are part of Error. It also stops HDF5 from closing files at exit. A file that could not
/// be written (disk full) would be written once more then, which crashes with a memory fault.
void silence();

/// Returns a file access list with the newest file format, and with file locks if the file system
/// supports them.
Handle file_access();
/// Returns a column access list with a small chunk cache. Rows are read and written in order, and
/// each flush visits all cached chunks. (HDF5's default cache of 1 MiB is not faster, and files
/// have 60 columns.)
Handle column_access();
Handle create_file(const std::filesystem::path& path);

/// Returns the HDF5 type of a column's elements, in memory and in the file.
hid_t type_of(schema::ElementType type);
static_assert(std::endian::native == std::endian::little, "files are little-endian");

/// Write an attribute. Throw Error naming the object's file.
void write_attribute(hid_t object, const char* name, std::string_view text);
void write_attribute(hid_t object, const char* name, std::int64_t value);
void write_attribute(hid_t object, const char* name, std::uint64_t value);
/// Return the value of an attribute. Throw Error naming `file` if it is missing or has another
/// type.
std::string read_text_attribute(hid_t object, const char* name, std::string_view file);
std::int64_t read_int_attribute(hid_t object, const char* name, std::string_view file);
std::uint64_t read_uint_attribute(hid_t object, const char* name, std::string_view file);

std::uint64_t row_count(hid_t dataset);

/// Opens files and columns on demand. A long run has more segments than a process may have open
/// files. Not thread-safe.
class OpenFiles {
 public:
  /// Keeps at most `limit` files open, the most recently used.
  explicit OpenFiles(std::size_t limit = default_limit()) : limit_(limit) {}

  /// Return identifiers that are valid until the next call. Throw Error naming what cannot be
  /// opened.
  hid_t file(const std::filesystem::path& path) { return open(path).file.id(); }
  hid_t column(const std::filesystem::path& path, const schema::ColumnInfo& column);

  /// Returns a quarter of the number of files that the process may open, at most 64. Each open file
  /// takes about a megabyte of memory.
  static std::size_t default_limit();

 private:
  struct File {
    std::filesystem::path path;
    Handle file;
    std::map<std::string, Handle, std::less<>> columns;  // opened so far, by path
  };
  File& open(const std::filesystem::path& path);

  std::size_t limit_;
  std::list<File> files_;  // most recently used first
};

}  // namespace lie::h5
