#include "tests/fuzz/file_bodies.h"

#include "common/trajectory/reader.h"
#include "tests/fuzz/input.h"

namespace lie::fuzz {

void segment_body(std::string_view input) {
  const std::filesystem::path path = file_with("learner-000-segment-000000.h5", input);
  read_or_refused([&] {
    const SegmentReader reader(path);
    for (std::size_t i = 0; i < reader.steps().size(); ++i) {
      reader.rows_of_step(schema::Table::kSample, i);
    }
    reader.read(schema::token::kId);
  });
}

}  // namespace lie::fuzz
