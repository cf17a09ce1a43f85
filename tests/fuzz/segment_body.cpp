#include "tests/fuzz/file_bodies.h"

#include <time.h>

#include "common/trajectory/reader.h"
#include "tests/fuzz/input.h"

/// Makes HDF5 read metadata only once. By default it retries metadata with an incorrect checksum up
/// to a hundred times with sleeps, 40 ms per input, in case the file is being written. These files
/// are never written meanwhile.
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
