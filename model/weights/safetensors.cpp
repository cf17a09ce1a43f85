#include "model/weights/safetensors.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "common/base/dtype.h"
#include "common/base/error.h"
#include "common/io/file.h"
#include "common/io/json.h"

namespace lie {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors is read in place");

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // the reference library's limit
constexpr std::size_t kDataAlignment = 64;

constexpr std::array<std::pair<std::string_view, std::size_t>, 15> kDtypeBytes = {{
    {"F32", 4},
    {"BF16", 2},
    {"F16", 2},
    {"F64", 8},
    {"I64", 8},
    {"I32", 4},
    {"I16", 2},
    {"I8", 1},
    {"U64", 8},
    {"U32", 4},
    {"U16", 2},
    {"U8", 1},
    {"BOOL", 1},
    {"F8_E4M3", 1},
    {"F8_E5M2", 1},
}};

std::span<const std::byte> map_file(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail("{}: cannot be opened: {}", path.string(), std::strerror(errno));
  struct stat status = {};
  const bool is_known = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  const auto bytes = is_known ? static_cast<std::size_t>(status.st_size) : 0;
  if (bytes < kLengthBytes) {
    ::close(file);
    fail("{}: {} bytes are too few for a safetensors file; copy the file again", path.string(),
         bytes);
  }
  void* memory = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
  const int error = errno;
  ::close(file);
  if (memory == MAP_FAILED) fail("{}: cannot be mapped: {}", path.string(), std::strerror(error));
  return {static_cast<const std::byte*>(memory), bytes};
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
    if (!header.is_object()) fail("{}: the header is not a JSON object", file_);
    for (const auto& [name, value] : header.items()) {
      if (name != "__metadata__") add(name, value);
    }
    check_coverage();
    std::vector<SafetensorsEntry> entries;
    for (Placed& placed : placed_) entries.push_back(std::move(placed.entry));
    return entries;
  }

 private:
  struct Placed {
    std::uint64_t begin = 0, end = 0;
    SafetensorsEntry entry;
  };

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

  void add(const std::string& name, const Json& value) {
    if (!value.is_object() || value.size() != 3 || !value.contains("dtype") ||
        !value.contains("shape") || !value.contains("data_offsets")) {
      fail("{}: tensor \"{}\": expected exactly dtype, shape and data_offsets", file_, name);
    }
    Placed placed;
    placed.entry.name = name;
    const std::size_t element_bytes = read_dtype(value["dtype"], placed.entry);
    const std::uint64_t bytes = read_shape(value["shape"], element_bytes, placed.entry);
    read_offsets(value["data_offsets"], bytes, placed);
    placed_.push_back(std::move(placed));
  }

  std::size_t read_dtype(const Json& value, SafetensorsEntry& entry) const {
    if (value.is_string()) entry.dtype = value.get<std::string>();
    for (const auto& [dtype, bytes] : kDtypeBytes) {
      if (dtype == entry.dtype) return bytes;
    }
    fail("{}: tensor \"{}\": unknown dtype {}", file_, entry.name, value.dump());
  }

  std::uint64_t read_shape(const Json& value, std::size_t element_bytes,
                           SafetensorsEntry& entry) const {
    const auto refuse = [&] {
      fail("{}: tensor \"{}\": shape {} is not a list of sizes that fit memory", file_, entry.name,
           value.dump());
    };
    if (!value.is_array()) refuse();
    std::uint64_t bytes = element_bytes;
    for (const Json& size : value) {
      if (!size.is_number_unsigned()) refuse();
      const auto rows = size.get<std::uint64_t>();
      if (rows > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) refuse();
      if (__builtin_mul_overflow(bytes, rows, &bytes)) refuse();
      entry.shape.push_back(static_cast<std::int64_t>(rows));
    }
    return bytes;
  }

  void read_offsets(const Json& value, std::uint64_t bytes, Placed& placed) const {
    if (!value.is_array() || value.size() != 2 || !value[0].is_number_unsigned() ||
        !value[1].is_number_unsigned()) {
      fail("{}: tensor \"{}\": data_offsets {} are not two byte positions", file_,
           placed.entry.name, value.dump());
    }
    placed.begin = value[0].get<std::uint64_t>();
    placed.end = value[1].get<std::uint64_t>();
    if (placed.begin > placed.end || placed.end - placed.begin != bytes) {
      fail("{}: tensor \"{}\": data_offsets {} do not span the {} bytes of its dtype and shape",
           file_, placed.entry.name, value.dump(), bytes);
    }
    if (placed.end > data_.size()) {
      fail("{}: tensor \"{}\" ends at byte {} of {}; the file is truncated, copy it again", file_,
           placed.entry.name, placed.end, data_.size());
    }
    placed.entry.data = data_.subspan(placed.begin, bytes);
  }

  /// Sorts the tensors by offset and checks that they fill the file without gaps or overlap.
  void check_coverage() {
    std::sort(placed_.begin(), placed_.end(), [](const Placed& a, const Placed& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    std::uint64_t expected = 0;
    for (const Placed& placed : placed_) {
      if (placed.begin != expected) {
        fail("{}: tensor \"{}\" begins at byte {}, {} the previous tensor, which ends at {}", file_,
             placed.entry.name, placed.begin,
             placed.begin < expected ? "inside" : "not right after", expected);
      }
      expected = placed.end;
    }
    if (expected != data_.size()) {
      fail("{}: the tensors end at byte {} of {}; the other bytes belong to no tensor", file_,
           expected, data_.size());
    }
  }

  std::string file_;
  std::span<const std::byte> mapping_, data_;
  std::vector<Placed> placed_;
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
std::string header_bytes(std::span<const TensorShape> tensors) {
  nlohmann::ordered_json header;
  header["__metadata__"]["format"] = "pt";
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
  try {
    entries_ = HeaderReader(path.string(), mapping_).read();
  } catch (...) {
    ::munmap(const_cast<std::byte*>(mapping_.data()), mapping_.size());
    throw;
  }
}

SafetensorsFile::SafetensorsFile(SafetensorsFile&& other) noexcept
    : path_(std::move(other.path_)),
      mapping_(std::exchange(other.mapping_, {})),
      entries_(std::move(other.entries_)) {}

SafetensorsFile::~SafetensorsFile() {
  if (!mapping_.empty()) ::munmap(const_cast<std::byte*>(mapping_.data()), mapping_.size());
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
                                     std::span<const TensorShape> tensors)
    : file_(path, OutputFile::Begin::kEmpty), missing_(0) {
  file_.write(header_bytes(tensors));
  for (const TensorShape& tensor : tensors) missing_ += bytes_of(tensor);
}

void SafetensorsWriter::append_bytes(std::span<const std::byte> values) {
  if (values.size_bytes() > missing_) {
    fail("{}: more values than in its header", file_.path().string());
  }
  missing_ -= values.size_bytes();
  file_.write_values(values);
}

void SafetensorsWriter::close() {
  if (missing_ > 0) {
    fail("{}: {} bytes fewer than in its header", file_.path().string(), missing_);
  }
  file_.close();
}

}  // namespace lie
