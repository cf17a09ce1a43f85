#include "tools/analyze/weights_digest.h"

#include <algorithm>
#include <vector>

#include "common/io/sha256.h"
#include "model/weights/safetensors.h"
#include "model/weights/weights.h"

namespace lie::analyze {

std::string weights_digest(const std::filesystem::path& directory) {
  std::vector<SafetensorsFile> files;
  std::vector<SafetensorsEntry> entries;
  const auto adapter = directory / kAdapterFile;
  const bool is_adapter = std::filesystem::exists(adapter);
  for (const auto& path : is_adapter ? std::vector{adapter} : weights_files(directory)) {
    const SafetensorsFile& file = files.emplace_back(path);
    entries.insert(entries.end(), file.entries().begin(), file.entries().end());
  }
  std::ranges::sort(entries, {}, &SafetensorsEntry::name);
  Sha256 hash;
  for (const SafetensorsEntry& entry : entries) hash.update(entry.data);
  return hash.hex_digest();
}

}  // namespace lie::analyze
