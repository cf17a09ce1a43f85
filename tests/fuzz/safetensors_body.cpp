#include "tests/fuzz/file_bodies.h"

#include <vector>

#include "model/weights/safetensors.h"
#include "tests/fuzz/input.h"

namespace lie::fuzz {

void safetensors_body(std::string_view input) {
  const std::filesystem::path path = file_with("model.safetensors", input);
  read_or_refused([&] {
    const SafetensorsFile file(path);
    for (const SafetensorsEntry& entry : file.entries()) {
      if (!is_float_dtype(entry.dtype)) continue;
      std::vector<float> values(entry.data.size() / (entry.dtype == "F32" ? 4 : 2));
      read_floats(entry, values);
    }
  });
}

}  // namespace lie::fuzz
