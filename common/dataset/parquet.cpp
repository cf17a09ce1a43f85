#include "common/dataset/parquet.h"

#include <arrow/api.h>
#include <arrow/io/file.h>
#include <arrow/result.h>
#include <arrow/util/utf8.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/writer.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "common/base/error.h"
#include "common/io/json.h"
#include "common/io/output_file.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kBatchRows = 1024;

/// Converts a failure of Arrow to an Error that names the file.
void check(const arrow::Status& status, const fs::path& path) {
  if (status.ok()) return;
  fail("{}: {}; check that the file is complete and Parquet", path.string(), status.message());
}

template <typename T>
T checked(arrow::Result<T> result, const fs::path& path) {
  check(result.status(), path);
  return std::move(result).ValueUnsafe();
}

Json to_json(const arrow::Array& array, std::int64_t i);

/// Returns an element of a typed array by its GetView().
template <typename Array, typename Value>
Json element(const arrow::Array& array, std::int64_t i) {
  return Json(Value(static_cast<const Array&>(array).GetView(i)));
}

bool is_utf8(std::string_view bytes) {
  arrow::util::InitializeUTF8();  // fills a table, once
  return arrow::util::ValidateUTF8(bytes);
}

/// Returns bytes as text if they are valid UTF-8. Other bytes, such as images, become null.
template <typename Array>
Json binary(const arrow::Array& array, std::int64_t i) {
  const std::string_view bytes = static_cast<const Array&>(array).GetView(i);
  return is_utf8(bytes) ? Json(std::string(bytes)) : Json();
}

/// Returns an element of a text column. One that is not UTF-8 cannot be read.
template <typename Array>
Json text(const arrow::Array& array, std::int64_t i) {
  const std::string_view bytes = static_cast<const Array&>(array).GetView(i);
  if (is_utf8(bytes)) return Json(std::string(bytes));
  return Json::object({{kUnreadType, "text that is not UTF-8"}});
}

template <typename Array>
Json list(const arrow::Array& array, std::int64_t i) {
  const auto& lists = static_cast<const Array&>(array);
  Json values = Json::array();
  const auto begin = static_cast<std::int64_t>(lists.value_offset(i));
  for (std::int64_t k = 0; k < static_cast<std::int64_t>(lists.value_length(i)); ++k) {
    values.push_back(to_json(*lists.values(), begin + k));
  }
  return values;
}

Json structure(const arrow::Array& array, std::int64_t i) {
  const auto& rows = static_cast<const arrow::StructArray&>(array);
  Json object = Json::object();
  for (int field = 0; field < rows.num_fields(); ++field) {
    object[rows.type()->field(field)->name()] = to_json(*rows.field(field), i);
  }
  return object;
}

/// Returns a row. Bytes that are no text are null there; as a column of their own they become
/// {"bytes": null}, as in a column of images, so that they do not look absent.
Json row_of(const arrow::StructArray& rows, std::int64_t i) {
  Json row = structure(rows, i);
  for (int field = 0; field < rows.num_fields(); ++field) {
    const arrow::Type::type type = rows.field(field)->type_id();
    const bool is_bytes = type == arrow::Type::BINARY || type == arrow::Type::LARGE_BINARY ||
                          type == arrow::Type::FIXED_SIZE_BINARY;
    Json& value = row[rows.type()->field(field)->name()];
    if (is_bytes && value.is_null() && !rows.field(field)->IsNull(i)) value = {{"bytes", nullptr}};
  }
  return row;
}

Json dictionary(const arrow::Array& array, std::int64_t i) {
  const auto& values = static_cast<const arrow::DictionaryArray&>(array);
  return to_json(*values.dictionary(), values.GetValueIndex(i));
}

/// Returns a map as an object, so that its values have paths. A map whose keys are not distinct
/// texts becomes a list of pairs.
Json map(const arrow::Array& array, std::int64_t i) {
  const auto& maps = static_cast<const arrow::MapArray&>(array);
  Json object = Json::object(), pairs = Json::array();
  for (std::int64_t k = maps.value_offset(i); k < maps.value_offset(i + 1); ++k) {
    Json key = to_json(*maps.keys(), k), value = to_json(*maps.items(), k);
    if (key.is_string()) object[key.get_ref<const std::string&>()] = value;
    pairs.push_back(Json::array({std::move(key), std::move(value)}));
  }
  return object.size() == pairs.size() ? object : pairs;
}

/// Returns what stands for an element of a type that is not read.
Json unread(const arrow::Array& array) {
  return Json::object({{kUnreadType, array.type()->ToString()}});
}

/// Returns Arrow's text of an element. Used for dates, times and decimals.
Json as_text(const arrow::Array& array, std::int64_t i) {
  const auto scalar = array.GetScalar(i);
  return scalar.ok() ? Json((*scalar)->ToString()) : unread(array);
}

/// Returns the double of the shortest decimal text that a float reads back from: 0.1 for 0.1F.
Json shortest(const arrow::Array& array, std::int64_t i) {
  const float value = static_cast<const arrow::FloatArray&>(array).Value(i);
  return std::isfinite(value) ? Json(std::stod(fmt::format("{}", value)))
                              : Json(static_cast<double>(value));
}

/// Returns the double of the shortest decimal text that a 16-bit float reads back from.
Json shortest_half(const arrow::Array& array, std::int64_t i) {
  const int bits = static_cast<const arrow::HalfFloatArray&>(array).Value(i);
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  const double sign = (bits >> 15) == 0 ? 1 : -1;
  if (exponent == 31) return Json(fraction == 0 ? sign * HUGE_VAL : std::nan(""));
  const double unit = std::ldexp(1, std::max(exponent, 1) - 25);  // of the last place
  const double value = sign * unit * (exponent == 0 ? fraction : fraction + 1024);
  for (int digits = 1;; ++digits) {
    const double text = std::stod(fmt::format("{:.{}g}", value, digits));
    if (std::abs(text - value) < unit / 2) return Json(text);
  }
}

Json to_json(const arrow::Array& array, std::int64_t i) {
  using arrow::Type;
  if (array.IsNull(i)) return nullptr;
  switch (array.type_id()) {
    case Type::STRING: return text<arrow::StringArray>(array, i);
    case Type::LARGE_STRING: return text<arrow::LargeStringArray>(array, i);
    case Type::BINARY: return binary<arrow::BinaryArray>(array, i);
    case Type::LARGE_BINARY: return binary<arrow::LargeBinaryArray>(array, i);
    case Type::FIXED_SIZE_BINARY: return binary<arrow::FixedSizeBinaryArray>(array, i);
    case Type::STRING_VIEW: return text<arrow::StringViewArray>(array, i);
    case Type::BOOL: return element<arrow::BooleanArray, bool>(array, i);
    case Type::INT8: return element<arrow::Int8Array, std::int64_t>(array, i);
    case Type::INT16: return element<arrow::Int16Array, std::int64_t>(array, i);
    case Type::INT32: return element<arrow::Int32Array, std::int64_t>(array, i);
    case Type::INT64: return element<arrow::Int64Array, std::int64_t>(array, i);
    case Type::UINT8: return element<arrow::UInt8Array, std::uint64_t>(array, i);
    case Type::UINT16: return element<arrow::UInt16Array, std::uint64_t>(array, i);
    case Type::UINT32: return element<arrow::UInt32Array, std::uint64_t>(array, i);
    case Type::UINT64: return element<arrow::UInt64Array, std::uint64_t>(array, i);
    case Type::HALF_FLOAT: return shortest_half(array, i);
    case Type::FLOAT: return shortest(array, i);
    case Type::DOUBLE: return element<arrow::DoubleArray, double>(array, i);
    case Type::LIST: return list<arrow::ListArray>(array, i);
    case Type::LARGE_LIST: return list<arrow::LargeListArray>(array, i);
    case Type::FIXED_SIZE_LIST: return list<arrow::FixedSizeListArray>(array, i);
    case Type::MAP: return map(array, i);
    case Type::STRUCT: return structure(array, i);
    case Type::DICTIONARY: return dictionary(array, i);
    case Type::DATE32:
    case Type::DATE64:
    case Type::TIME32:
    case Type::TIME64:
    case Type::TIMESTAMP:
    case Type::DECIMAL128:
    case Type::DECIMAL256: return as_text(array, i);
    case Type::NA: return nullptr;
    default: return unread(array);
  }
}

/// Throws Error if two columns, or two fields of a structure, have the same name.
void refuse_equal_names(const arrow::FieldVector& fields, const std::string& outer,
                        const fs::path& path) {
  std::set<std::string> names;
  for (const auto& field : fields) {
    if (!names.insert(field->name()).second) {
      fail("{}: two columns have the name {}{}; remove or rename one of them", path.string(), outer,
           field->name());
    }
    refuse_equal_names(field->type()->fields(), outer + field->name() + ".", path);
  }
}

std::unique_ptr<parquet::arrow::FileReader> open_file(const fs::path& path) {
  auto file = checked(arrow::io::ReadableFile::Open(path.string()), path);
  parquet::ArrowReaderProperties properties;
  properties.set_batch_size(kBatchRows);
  properties.set_use_threads(false);  // MPI ranks and thread teams use the cores
  parquet::arrow::FileReaderBuilder builder;
  check(builder.Open(std::move(file)), path);
  builder.properties(properties);
  return checked(builder.Build(), path);
}

// Before Arrow 24 the reader has an output parameter where it returns a Result since.

/// Returns a reader of all row groups of an open file.
template <typename Reader>
std::shared_ptr<arrow::RecordBatchReader> batch_reader(Reader& reader, const fs::path& path) {
  if constexpr (requires { reader.GetRecordBatchReader().ok(); }) {
    return checked(reader.GetRecordBatchReader(), path);
  } else {
    std::shared_ptr<arrow::RecordBatchReader> batches;
    check(reader.GetRecordBatchReader(&batches), path);
    return batches;
  }
}

/// Returns an open file as one table.
template <typename Reader>
std::shared_ptr<arrow::Table> whole_table(Reader& reader, const fs::path& path) {
  if constexpr (requires { reader.ReadTable().ok(); }) {
    return checked(reader.ReadTable(), path);
  } else {
    std::shared_ptr<arrow::Table> table;
    check(reader.ReadTable(&table), path);
    return table;
  }
}

void write_table(const arrow::Table& table, const fs::path& path) {
  auto out = checked(arrow::io::FileOutputStream::Open(path.string()), path);
  const auto properties =
      parquet::WriterProperties::Builder().compression(parquet::Compression::SNAPPY)->build();
  check(parquet::arrow::WriteTable(table, arrow::default_memory_pool(), out,
                                   parquet::DEFAULT_MAX_ROW_GROUP_LENGTH, properties),
        path);
  check(out->Close(), path);
}

std::shared_ptr<arrow::Array> doubles(std::span<const double> values, const fs::path& path) {
  arrow::DoubleBuilder builder;
  check(builder.AppendValues(values.data(), static_cast<std::int64_t>(values.size())), path);
  return checked(builder.Finish(), path);
}

}  // namespace

void for_each_parquet_row(const fs::path& path, const std::function<void(const JsonRow&)>& visit) {
  const auto reader = open_file(path);
  const auto batches = batch_reader(*reader, path);
  refuse_equal_names(batches->schema()->fields(), "", path);
  for (std::int64_t row = 1;;) {
    const auto batch = checked(batches->Next(), path);
    if (!batch) return;
    const auto rows = checked(batch->ToStructArray(), path);
    for (std::int64_t i = 0; i < rows->length(); ++i, ++row) {
      visit(JsonRow(fmt::format("{}:row {}", path.string(), row),
                    std::make_shared<const Json>(row_of(*rows, i))));
    }
  }
}

void add_parquet_columns(const fs::path& input, const fs::path& output,
                         std::span<const NumberColumn> columns) {
  auto table = whole_table(*open_file(input), input);
  for (const auto& [name, values] : columns) {
    if (table->num_rows() != std::ssize(values)) {
      fail("{}: the file has {} rows, not {}: it has changed since it was read", input.string(),
           table->num_rows(), values.size());
    }
    const auto column = std::make_shared<arrow::ChunkedArray>(doubles(values, output));
    const auto field = arrow::field(name, arrow::float64());
    const int there = table->schema()->GetFieldIndex(name);
    table = there < 0 ? checked(table->AddColumn(table->num_columns(), field, column), output)
                      : checked(table->SetColumn(there, field, column), output);
  }
  FileAside aside(output);
  write_table(*table, aside.at());
  aside.publish();
}

}  // namespace lie
