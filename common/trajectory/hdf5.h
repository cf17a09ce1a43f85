// HDF5 handles that close themselves, and its return codes as lie::Error. Only .cpp files of this
// folder include this. The library is used by one thread of a process.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "common/trajectory/schema.h"

namespace lie::h5 {

/// Owns an HDF5 identifier. Move-only; the destructor closes and ignores errors, close() throws
/// them.
class Handle {
 public:
  using Closer = herr_t (*)(hid_t);
  Handle() = default;
  Handle(hid_t id, Closer closer) : id_(id), closer_(closer) {}
  Handle(Handle&& other) noexcept
      : id_(std::exchange(other.id_, H5I_INVALID_HID)), closer_(other.closer_) {}
  Handle& operator=(Handle&& other) noexcept;
  ~Handle() { reset(); }
  hid_t id() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }
  void reset() noexcept;
  void close(std::string_view what);

 private:
  hid_t id_ = H5I_INVALID_HID;
  Closer closer_ = nullptr;
};

/// The value if it is no error, else throws Error: what was attempted, and HDF5's innermost reason.
hid_t checked_id(hid_t id, std::string_view what);
void check(herr_t status, std::string_view what);
/// HDF5's innermost reason for the last failure.
std::string last_reason();
/// To be called before anything else of HDF5. It prints no error stack: reasons travel in Error. At
/// the program's end it closes nothing by itself: a file that could not be written (disk full)
/// would be written once more then, which breaks off with a fault of memory.
void silence();

/// Access to the newest file format, with file locks where the file system has them.
Handle file_access();
/// Access to a column with a small chunk cache: rows are read and written in order, and each flush
/// walks over all that the cache holds. (HDF5's own of 1 MiB is no gain, and files have 60
/// columns.)
Handle column_access();
Handle create_file(const std::filesystem::path& path);

/// The HDF5 type of a column's elements in memory and in the file (little-endian).
hid_t memory_type(schema::ElementType type);
hid_t file_type(schema::ElementType type);

void write_attribute(hid_t object, const char* name, std::string_view text);
void write_attribute(hid_t object, const char* name, std::int64_t value);
void write_attribute(hid_t object, const char* name, std::uint64_t value);
/// Throw Error naming `file` if the attribute is missing or of another kind.
std::string read_text_attribute(hid_t object, const char* name, std::string_view file);
std::int64_t read_int_attribute(hid_t object, const char* name, std::string_view file);
std::uint64_t read_uint_attribute(hid_t object, const char* name, std::string_view file);

/// Rows of a one-dimensional dataset.
std::uint64_t row_count(hid_t dataset);

}  // namespace lie::h5
