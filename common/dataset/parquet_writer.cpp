#include <arrow/api.h>
#include <arrow/io/file.h>
#include <parquet/arrow/writer.h>

#include <memory>
#include <string>
#include <utility>

#include "common/dataset/arrow_status.h"
#include "common/dataset/parquet.h"
#include "common/io/file_aside.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kRowGroupRows = 1024;

std::shared_ptr<arrow::DataType> type_of(const Row& example);

std::shared_ptr<arrow::DataType> structure_of(const Row& example) {
  arrow::FieldVector fields;
  for (const auto& [name, value] : example.items()) {
    fields.push_back(arrow::field(name, type_of(value)));
  }
  return arrow::struct_(fields);
}

std::shared_ptr<arrow::DataType> type_of(const Row& example) {
  switch (example.type()) {
    case Row::value_t::object: return structure_of(example);
    case Row::value_t::array: return arrow::list(type_of(example.at(0)));
    case Row::value_t::string: return arrow::utf8();
    case Row::value_t::boolean: return arrow::boolean();
    case Row::value_t::number_float: return arrow::float64();
    default: return arrow::int64();
  }
}

/// `type` is the builder's own, which it would make anew when asked for.
arrow::Status append(arrow::ArrayBuilder& builder, const arrow::DataType& type, const Row& value);

arrow::Status append_list(arrow::ListBuilder& builder, const arrow::DataType& type,
                          const Row& values) {
  ARROW_RETURN_NOT_OK(builder.Append());
  for (const Row& value : values) {
    ARROW_RETURN_NOT_OK(append(*builder.value_builder(), *type.field(0)->type(), value));
  }
  return arrow::Status::OK();
}

arrow::Status append_object(arrow::StructBuilder& builder, const arrow::DataType& type,
                            const Row& object) {
  ARROW_RETURN_NOT_OK(builder.Append());
  for (int i = 0; i < type.num_fields(); ++i) {
    const arrow::Field& field = *type.field(i);
    ARROW_RETURN_NOT_OK(
        append(*builder.field_builder(i), *field.type(), object.value(field.name(), Row())));
  }
  return arrow::Status::OK();
}

arrow::Status append(arrow::ArrayBuilder& builder, const arrow::DataType& type, const Row& value) {
  using arrow::Type;
  if (value.is_null()) return builder.AppendNull();
  switch (type.id()) {
    case Type::STRUCT:
      return append_object(static_cast<arrow::StructBuilder&>(builder), type, value);
    case Type::LIST: return append_list(static_cast<arrow::ListBuilder&>(builder), type, value);
    case Type::STRING:
      return static_cast<arrow::StringBuilder&>(builder).Append(value.get<std::string>());
    case Type::BOOL: return static_cast<arrow::BooleanBuilder&>(builder).Append(value.get<bool>());
    case Type::DOUBLE:
      return static_cast<arrow::DoubleBuilder&>(builder).Append(value.get<double>());
    default: return static_cast<arrow::Int64Builder&>(builder).Append(value.get<std::int64_t>());
  }
}

class ParquetRows : public Sink<Row> {
 public:
  ParquetRows(fs::path path, const Row& example)
      : aside_(std::move(path)), type_(structure_of(example)) {
    rows_ = checked(arrow::MakeBuilder(type_), aside_.place(), kRemedyOfWriting);
    out_ = checked(arrow::io::FileOutputStream::Open(aside_.at().string()), aside_.place(),
                   kRemedyOfWriting);
    const auto snappy =
        parquet::WriterProperties::Builder().compression(parquet::Compression::SNAPPY)->build();
    file_ = checked(parquet::arrow::FileWriter::Open(
                        *arrow::schema(type_->fields()), arrow::default_memory_pool(), out_, snappy,
                        parquet::ArrowWriterProperties::Builder().store_schema()->build()),
                    aside_.place(), kRemedyOfWriting);
  }

  void send(Row row) override {
    check(append(*rows_, *type_, row), aside_.place(), kRemedyOfWriting);
    if (rows_->length() == kRowGroupRows) write_row_group();
  }

  void close() override {
    if (rows_->length() > 0) write_row_group();
    check(file_->Close(), aside_.place(), kRemedyOfWriting);
    check(out_->Close(), aside_.place(), kRemedyOfWriting);
    aside_.publish();
  }

 private:
  void write_row_group() {
    const auto rows = checked(rows_->Finish(), aside_.place(), kRemedyOfWriting);
    const auto batch =
        checked(arrow::RecordBatch::FromStructArray(rows), aside_.place(), kRemedyOfWriting);
    const auto table =
        checked(arrow::Table::FromRecordBatches({batch}), aside_.place(), kRemedyOfWriting);
    check(file_->WriteTable(*table, kRowGroupRows), aside_.place(), kRemedyOfWriting);
  }

  FileAside aside_;
  std::shared_ptr<arrow::DataType> type_;
  std::unique_ptr<arrow::ArrayBuilder> rows_;  // of the next row group
  std::shared_ptr<arrow::io::FileOutputStream> out_;
  std::unique_ptr<parquet::arrow::FileWriter> file_;
};

}  // namespace

std::unique_ptr<Sink<Row>> open_parquet(const fs::path& path, const Row& example) {
  return std::make_unique<ParquetRows>(path, example);
}

}  // namespace lie
