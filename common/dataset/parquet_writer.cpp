#include <arrow/api.h>
#include <arrow/io/file.h>
#include <parquet/arrow/writer.h>

#include <memory>
#include <string>
#include <utility>

#include "common/dataset/arrow_status.h"
#include "common/dataset/parquet.h"
#include "common/file.h"

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
    case Row::value_t::object:
      return structure_of(example);
    case Row::value_t::array:
      return arrow::list(type_of(example.at(0)));
    case Row::value_t::string:
      return arrow::utf8();
    case Row::value_t::boolean:
      return arrow::boolean();
    case Row::value_t::number_float:
      return arrow::float64();
    default:
      return arrow::int64();
  }
}

arrow::Status append(arrow::ArrayBuilder& builder, const Row& value);

arrow::Status append_list(arrow::ListBuilder& builder, const Row& values) {
  ARROW_RETURN_NOT_OK(builder.Append());
  for (const Row& value : values) ARROW_RETURN_NOT_OK(append(*builder.value_builder(), value));
  return arrow::Status::OK();
}

arrow::Status append_object(arrow::StructBuilder& builder, const Row& object) {
  ARROW_RETURN_NOT_OK(builder.Append());
  for (int i = 0; i < builder.num_fields(); ++i) {
    const std::string& name = builder.type()->field(i)->name();
    ARROW_RETURN_NOT_OK(append(*builder.field_builder(i), object.value(name, Row())));
  }
  return arrow::Status::OK();
}

arrow::Status append(arrow::ArrayBuilder& builder, const Row& value) {
  using arrow::Type;
  if (value.is_null()) return builder.AppendNull();
  switch (builder.type()->id()) {
    case Type::STRUCT:
      return append_object(static_cast<arrow::StructBuilder&>(builder), value);
    case Type::LIST:
      return append_list(static_cast<arrow::ListBuilder&>(builder), value);
    case Type::STRING:
      return static_cast<arrow::StringBuilder&>(builder).Append(value.get<std::string>());
    case Type::BOOL:
      return static_cast<arrow::BooleanBuilder&>(builder).Append(value.get<bool>());
    case Type::DOUBLE:
      return static_cast<arrow::DoubleBuilder&>(builder).Append(value.get<double>());
    default:
      return static_cast<arrow::Int64Builder&>(builder).Append(value.get<std::int64_t>());
  }
}

class ParquetRows : public Sink<Row> {
 public:
  ParquetRows(fs::path path, const Row& example)
      : path_(std::move(path)), aside_(path_.string() + ".partial"), type_(structure_of(example)) {
    rows_ = checked(arrow::MakeBuilder(type_), path_, kRemedyOfWriting);
    out_ = checked(arrow::io::FileOutputStream::Open(aside_.string()), path_, kRemedyOfWriting);
    const auto snappy =
        parquet::WriterProperties::Builder().compression(parquet::Compression::SNAPPY)->build();
    file_ = checked(parquet::arrow::FileWriter::Open(
                        *arrow::schema(type_->fields()), arrow::default_memory_pool(), out_, snappy,
                        parquet::ArrowWriterProperties::Builder().store_schema()->build()),
                    path_, kRemedyOfWriting);
  }

  void send(Row row) override {
    check(append(*rows_, row), path_, kRemedyOfWriting);
    if (rows_->length() == kRowGroupRows) write_row_group();
  }

  void close() override {
    if (rows_->length() > 0) write_row_group();
    check(file_->Close(), path_, kRemedyOfWriting);
    check(out_->Close(), path_, kRemedyOfWriting);
    sync_file(aside_);
    rename_durably(aside_, path_);
  }

 private:
  void write_row_group() {
    const auto rows = checked(rows_->Finish(), path_, kRemedyOfWriting);
    const auto batch = checked(arrow::RecordBatch::FromStructArray(rows), path_, kRemedyOfWriting);
    const auto table = checked(arrow::Table::FromRecordBatches({batch}), path_, kRemedyOfWriting);
    check(file_->WriteTable(*table, kRowGroupRows), path_, kRemedyOfWriting);
  }

  fs::path path_, aside_;
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
