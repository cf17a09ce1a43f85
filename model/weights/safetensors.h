// The safetensors format: 8 bytes little-endian header length N, N bytes of JSON, then the tensors'
// bytes without gaps. The JSON maps each name to {"dtype", "shape", "data_offsets": [begin, end)},
// offsets counted from the end of the header; "__metadata__" maps strings to strings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lie {

/// One tensor of an open file; `data` points into the mapping and may be unaligned.
struct SafetensorsEntry {
  std::string name;
  std::string dtype;  // as the file spells it: "F32", "BF16", ...
  std::vector<std::int64_t> shape;
  std::span<const std::byte> data;
};

/// A memory-mapped file whose header has been checked whole: sizes agree with shapes and dtypes,
/// and the tensors cover the file's bytes exactly once. Move-only.
class SafetensorsFile {
 public:
  /// Throws Error naming file and tensor if the file is not as the format says.
  explicit SafetensorsFile(const std::filesystem::path& path);
  SafetensorsFile(SafetensorsFile&& other) noexcept;
  SafetensorsFile& operator=(SafetensorsFile&&) = delete;
  ~SafetensorsFile();

  const std::filesystem::path& path() const { return path_; }
  /// In the order of their bytes.
  std::span<const SafetensorsEntry> entries() const { return entries_; }

 private:
  std::filesystem::path path_;
  std::span<const std::byte> mapping_;
  std::vector<SafetensorsEntry> entries_;
};

/// True if read_floats can convert this dtype: F32, BF16 and F16.
bool is_float_dtype(std::string_view dtype);

/// Converts the entry's elements to fp32, exactly. `out` has as many elements as the entry.
void read_floats(const SafetensorsEntry& entry, std::span<float> out);

/// `count` elements of an entry of floats from `first` on, without a shape.
SafetensorsEntry part_of(const SafetensorsEntry& entry, std::int64_t first, std::int64_t count);

/// A named fp32 tensor to be written.
struct TensorShape {
  std::string name;
  std::vector<std::int64_t> shape;
};

/// Writes fp32 tensors in the order given, their bytes beginning at a multiple of 64, with the
/// metadata {"format": "pt"} that transformers asks for.
class SafetensorsWriter {
 public:
  SafetensorsWriter(const std::filesystem::path& path, std::span<const TensorShape> tensors);
  /// The values of all tensors end to end, in calls of any size.
  void append(std::span<const float> values);
  /// Throws Error if the file could not be written, or values are missing or too many.
  void close();

 private:
  std::filesystem::path path_;
  std::ofstream file_;
  std::uint64_t missing_;  // bytes to come
};

}  // namespace lie
