#include "tools/analyze/weights_digest.h"

#include <algorithm>
#include <vector>

#include "common/sha256.h"
#include "model/safetensors.h"

namespace lie::analyze {

std::string weights_digest(const std::filesystem::path& directory) {
  const SafetensorsFile file(directory / "model.safetensors");
  std::vector<SafetensorsEntry> entries(file.entries().begin(), file.entries().end());
  std::ranges::sort(entries, {}, &SafetensorsEntry::name);
  Sha256 hash;
  for (const SafetensorsEntry& entry : entries) hash.update(entry.data);
  return hash.hex_digest();
}

}  // namespace lie::analyze
