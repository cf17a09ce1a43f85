// lie_replay export: logged responses as a data set for other programs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/replay/data_shapes.h"

namespace lie::replay {

struct ExportArguments {
  std::vector<std::filesystem::path> runs;
  std::filesystem::path output;  // *.parquet, or JSONL
  ShapeOptions shape;
  std::string steps;           // "5-10"; empty: all
  std::string kind = "train";  // "train", "eval" or "all"
  bool overwrite = false;
  std::vector<std::string> overrides;  // key=value: where data files and tokenizer are now
};

/// Writes the rows by run, step, kind (training first), group and sample, and prints how many and
/// what was left out. Throws Error, also where not a row comes of it; `output` is then as it was.
void export_command(const ExportArguments& arguments);

}  // namespace lie::replay
