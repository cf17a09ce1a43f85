#include "common/dataset/row_file.h"

#include <fstream>
#include <utility>

#include "common/base/error.h"
#include "common/dataset/parquet.h"
#include "common/io/file_aside.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

class JsonLines : public Sink<Row> {
 public:
  explicit JsonLines(fs::path path)
      : aside_(std::move(path)), file_(aside_.at(), std::ios::binary) {
    check();
  }

  void send(Row row) override {
    file_ << row.dump(-1, ' ', false, Row::error_handler_t::replace) << '\n';
    check();
  }

  void close() override {
    file_.close();
    check();
    aside_.publish();
  }

 private:
  void check() const {
    if (file_) return;
    fail("cannot write {}; check the path and the space on the disk", aside_.at().string());
  }

  FileAside aside_;
  std::ofstream file_;
};

}  // namespace

bool is_named_parquet(const fs::path& path) { return path.extension() == ".parquet"; }

std::unique_ptr<Sink<Row>> open_row_file(const fs::path& path, const Row& example) {
  if (is_named_parquet(path)) return open_parquet(path, example);
  return std::make_unique<JsonLines>(path);
}

}  // namespace lie
