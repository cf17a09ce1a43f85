#include "model/weights/safetensors.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

#include "common/base/dtype.h"
#include "common/base/error.h"
#include "common/io/descriptor.h"
#include "common/io/file.h"
#include "common/io/json_node.h"

namespace lie {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors is read in place");

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // the reference library's limit
constexpr std::size_t kDataAlignment = 64;

constexpr std::pair<std::string_view, std::size_t> kDtypeBytes[] = {
    {"F32", 4}, {"BF16", 2}, {"F16", 2},  {"F64", 8},     {"I64", 8},
    {"I32", 4}, {"I16", 2},  {"I8", 1},   {"U64", 8},     {"U32", 4},
    {"U16", 2}, {"U8", 1},   {"BOOL", 1}, {"F8_E4M3", 1}, {"F8_E5M2", 1}};

MappedMemory map_file(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file.is_open()) fail("{}: cannot be opened: {}", path.string(), std::strerror(errno));
  struct stat status = {};
  const bool is_known = ::fstat(file.number(), &status) == 0;
  if (is_known && !S_ISREG(status.st_mode)) {
    fail("{}: is not a regular file; copy the weights there", path.string());
  }
  const auto bytes = is_known ? static_cast<std::size_t>(status.st_size) : 0;
  if (bytes < kLengthBytes) {
    fail("{}: {} bytes are too few for a safetensors file; copy the file again", path.string(),
         bytes);
  }
  MappedMemory mapped(file.number(), bytes, PROT_READ, MAP_PRIVATE);
  if (mapped.bytes().empty()) {
    fail("{}: cannot be mapped: {}", path.string(), std::strerror(errno));
  }
  return mapped;
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Reads and checks the header of one file. Every error names the file.
class HeaderReader {
 public:
  HeaderReader(std::string file, std::span<const std::byte> mapping)
      : file_(std::move(file)), mapping_(mapping) {}

  std::vector<SafetensorsEntry> read() {
    const Json header = parse_json(header_text(), file_ + " (header)");
    const JsonNode root(&header, file_ + ": ");
    for (const auto& [name, value] : root.object().items()) {
      if (name != "__metadata__") add(name, root.at(name));
    }
    const Json metadata = header.value("__metadata__", Json::object());
    for (const auto& [key, value] : metadata.items()) {
      if (value.is_string()) metadata_[key] = value;
    }
    check_coverage();
    return std::move(entries_);
  }
  std::map<std::string, std::string> metadata() && { return std::move(metadata_); }

 private:
  std::string_view header_text() {
    refuse_lfs_pointer(file_, as_text(mapping_));
    std::uint64_t length = 0;
    std::memcpy(&length, mapping_.data(), kLengthBytes);
    if (length > kMaxHeaderBytes || length > mapping_.size() - kLengthBytes) {
      fail(
          "{}: header length {} does not fit a file of {} bytes (limit {}); the file is not a "
          "safetensors file, or it is truncated",
          file_, length, mapping_.size(), kMaxHeaderBytes);
    }
    data_ = mapping_.subspan(kLengthBytes + length);
    return as_text(mapping_.subspan(kLengthBytes, length));
  }

  void add(const std::string& name, const JsonNode& node) {
    if (node.object().size() != 3) node.reject("exactly dtype, shape and data_offsets");
    SafetensorsEntry entry;
    entry.name = name;
    entry.dtype = node.at("dtype").text();
    std::uint64_t bytes = bytes_of_dtype(node.at("dtype"));
    for (const JsonNode& size : node.at("shape").items()) {
      const std::uint64_t rows = size.is_natural(INT64_MAX) ? size.json().get<std::uint64_t>() : 0;
      if (!size.is_natural(INT64_MAX) || __builtin_mul_overflow(bytes, rows, &bytes)) {
        size.reject("a size that fits memory");
      }
      entry.shape.push_back(static_cast<std::int64_t>(rows));
    }
    entry.data = data_at(node.at("data_offsets"), bytes);
    entries_.push_back(std::move(entry));
  }

  static std::uint64_t bytes_of_dtype(const JsonNode& node) {
    for (const auto& [dtype, bytes] : kDtypeBytes) {
      if (node.text() == dtype) return bytes;
    }
    node.reject("a dtype of the format");
  }

  std::span<const std::byte> data_at(const JsonNode& offsets, std::uint64_t bytes) const {
    const std::vector<JsonNode> ends = offsets.items();
    if (ends.size() != 2 || !ends[0].is_natural() || !ends[1].is_natural()) {
      offsets.reject("two byte positions");
    }
    const auto begin = ends[0].json().get<std::uint64_t>(),
               end = ends[1].json().get<std::uint64_t>();
    if (begin > end || end - begin != bytes) {
      offsets.reject(fmt::format("a span of the {} bytes of dtype and shape", bytes));
    }
    if (end > data_.size()) {
      fail("{}: the tensor ends at byte {} of {}; the file is truncated, copy it again",
           offsets.place(), end, data_.size());
    }
    return data_.subspan(begin, bytes);
  }

  /// Sorts the tensors by offset and checks that they fill the file without gaps or overlap.
  void check_coverage() {
    std::ranges::sort(entries_, {}, [](const SafetensorsEntry& entry) {
      return std::pair(entry.data.data(), entry.data.size());
    });
    std::ptrdiff_t expected = 0;
    for (const SafetensorsEntry& entry : entries_) {
      const std::ptrdiff_t begin = entry.data.data() - data_.data();
      if (begin != expected) {
        fail("{}: tensor \"{}\" begins at byte {}, {} the previous tensor, which ends at {}", file_,
             entry.name, begin, begin < expected ? "inside" : "not right after", expected);
      }
      expected += std::ssize(entry.data);
    }
    if (expected != std::ssize(data_)) {
      fail("{}: the tensors end at byte {} of {}; the other bytes belong to no tensor", file_,
           expected, data_.size());
    }
  }

  std::string file_;
  std::span<const std::byte> mapping_, data_;
  std::map<std::string, std::string> metadata_;
  std::vector<SafetensorsEntry> entries_;
};

float from_f16(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fu;
  const std::uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0) {  // zero and subnormals: mantissa * 2^-24
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
  }
  const std::uint32_t wide_exponent = exponent == 31 ? 255u : exponent + 112u;
  return std::bit_cast<float>(sign | (wide_exponent << 23) | (mantissa << 13));
}

template <typename Convert>
void convert_halves(std::span<const std::byte> data, std::span<float> out, Convert convert) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, data.data() + 2 * i, 2);
    out[i] = convert(bits);
  }
}

std::uint64_t bytes_of(const TensorShape& tensor) {
  std::uint64_t bytes = tensor.dtype == "F32" ? 4 : 2;
  for (const std::int64_t size : tensor.shape) bytes *= static_cast<std::uint64_t>(size);
  return bytes;
}

/// Returns the length field and the header, padded with spaces so that the data is aligned.
std::string header_bytes(std::span<const TensorShape> tensors,
                         const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header;
  header["__metadata__"]["format"] = "pt";
  for (const auto& [key, value] : metadata) header["__metadata__"][key] = value;
  std::uint64_t begin = 0;
  for (const TensorShape& tensor : tensors) {
    const std::uint64_t end = begin + bytes_of(tensor);
    header[tensor.name] = {
        {"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
    begin = end;
  }
  std::string text = header.dump();
  text.append((kDataAlignment - (kLengthBytes + text.size()) % kDataAlignment) % kDataAlignment,
              ' ');
  const std::uint64_t length = text.size();
  std::string bytes(reinterpret_cast<const char*>(&length), kLengthBytes);
  return bytes + text;
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : path_(path), mapping_(map_file(path)) {
  HeaderReader header(path.string(), mapping_.bytes());
  entries_ = header.read();
  metadata_ = std::move(header).metadata();
}

bool is_float_dtype(std::string_view dtype) {
  return dtype == "F32" || dtype == "BF16" || dtype == "F16";
}

void read_floats(const SafetensorsEntry& entry, std::span<float> out) {
  const std::size_t element_bytes = entry.dtype == "F32" ? 4 : 2;
  if (!is_float_dtype(entry.dtype) || entry.data.size() != out.size() * element_bytes) {
    fail("tensor \"{}\": {} bytes of {} cannot be read as {} floats", entry.name, entry.data.size(),
         entry.dtype, out.size());
  }
  if (out.empty()) return;
  if (entry.dtype == "F32") std::memcpy(out.data(), entry.data.data(), entry.data.size());
  if (entry.dtype == "BF16") convert_halves(entry.data, out, from_bfloat16);
  if (entry.dtype == "F16") convert_halves(entry.data, out, from_f16);
}

SafetensorsEntry elements_of(const SafetensorsEntry& entry, std::int64_t first,
                             std::int64_t count) {
  const std::size_t bytes = entry.dtype == "F32" ? 4 : 2;
  return {entry.name,
          entry.dtype,
          {},
          entry.data.subspan(static_cast<std::size_t>(first) * bytes,
                             static_cast<std::size_t>(count) * bytes)};
}

SafetensorsWriter::SafetensorsWriter(const std::filesystem::path& path,
                                     std::span<const TensorShape> tensors,
                                     const std::map<std::string, std::string>& metadata)
    : file_(path, OutputFile::Begin::kEmpty), missing_(0) {
  file_.write(header_bytes(tensors, metadata));
  for (const TensorShape& tensor : tensors) missing_ += bytes_of(tensor);
}

void SafetensorsWriter::append_bytes(std::span<const std::byte> values) {
  if (values.size() > missing_) {
    fail("{}: more values than in its header", file_.path().string());
  }
  missing_ -= values.size();
  file_.write({reinterpret_cast<const char*>(values.data()), values.size()});
}

void SafetensorsWriter::close() {
  if (missing_ > 0) {
    fail("{}: {} bytes fewer than in its header", file_.path().string(), missing_);
  }
  file_.close();
}

}  // namespace lie
