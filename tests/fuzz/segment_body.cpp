#include "tests/fuzz/file_bodies.h"

#include <time.h>

#include "common/trajectory/reader.h"
#include "tests/fuzz/input.h"

/// HDF5 reads metadata of a file that may be written meanwhile once more where its checksum does
/// not fit, up to a hundred times, and sleeps between: 40 ms an input. Nobody writes this file.
extern "C" int nanosleep(const timespec* /*requested*/, timespec* /*remaining*/) { return 0; }

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
