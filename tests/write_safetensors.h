// Writes a safetensors file in one call, for tests.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "model/weights/safetensors.h"

namespace lie {

struct FloatTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::span<const float> values;
};

inline void write_safetensors(std::span<const FloatTensor> tensors,
                              const std::filesystem::path& path) {
  std::vector<TensorShape> shapes;
  for (const FloatTensor& tensor : tensors) shapes.push_back({tensor.name, tensor.shape});
  SafetensorsWriter writer(path, shapes);
  for (const FloatTensor& tensor : tensors) writer.append(tensor.values);
  writer.close();
}

}  // namespace lie
