// The safetensors format: the header length N in 8 bytes (little-endian), N bytes of JSON, then the
// tensors' bytes without gaps. The JSON maps each tensor name to {"dtype", "shape", "data_offsets":
// [begin, end)}. Offsets count from the end of the header. The key "__metadata__" maps strings to
// strings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/io/mapped_memory.h"
#include "common/io/output_file.h"

namespace lie {

/// One tensor of an open file. `data` points into the mapping and may be unaligned.
struct SafetensorsEntry {
  std::string name;
  std::string dtype;  // as the file spells it: "F32", "BF16", ...
  std::vector<std::int64_t> shape;
  std::span<const std::byte> data;
};

/// A memory-mapped file with a fully checked header: sizes agree with shapes and dtypes, and the
/// tensors cover the file's bytes exactly once. Move-only.
class SafetensorsFile {
 public:
  /// Throws Error that names file and tensor if the file violates the format.
  explicit SafetensorsFile(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  /// Returns the tensors in the order of their bytes.
  std::span<const SafetensorsEntry> entries() const { return entries_; }
  /// Returns a text of the file's metadata, or an empty one.
  std::string metadata(const std::string& key) const {
    const auto found = metadata_.find(key);
    return found == metadata_.end() ? std::string() : found->second;
  }

 private:
  std::filesystem::path path_;
  MappedMemory mapping_;
  std::map<std::string, std::string> metadata_;
  std::vector<SafetensorsEntry> entries_;
};

/// Returns whether read_floats can convert this dtype: F32, BF16 and F16.
bool is_float_dtype(std::string_view dtype);

/// Converts the entry's elements to fp32, which is exact. `out` must have as many elements.
void read_floats(const SafetensorsEntry& entry, std::span<float> out);

/// Returns the elements [first, first + count) of an entry of floats, without a shape.
SafetensorsEntry elements_of(const SafetensorsEntry& entry, std::int64_t first, std::int64_t count);

struct TensorShape {
  std::string name;
  std::vector<std::int64_t> shape;
  std::string dtype = "F32";  // or "BF16"
};

/// Writes tensors in the given order. Their bytes begin at a multiple of 64. The file has the
/// metadata {"format": "pt"}, which transformers requires, and `metadata`.
class SafetensorsWriter {
 public:
  SafetensorsWriter(const std::filesystem::path& path, std::span<const TensorShape> tensors,
                    const std::map<std::string, std::string>& metadata = {});
  /// Appends values. All calls together must give the values of all tensors, end to end. Throws
  /// Error if there are too many.
  void append(std::span<const float> values) { append_bytes(std::as_bytes(values)); }
  void append(std::span<const std::uint16_t> halves) { append_bytes(std::as_bytes(halves)); }
  /// Throws Error if the file could not be written or if values are missing.
  void close();

 private:
  void append_bytes(std::span<const std::byte> values);

  OutputFile file_;
  std::uint64_t missing_;  // bytes not yet appended
};

}  // namespace lie
