// Reads the shared JSONL corpora, which are not part of the repository.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/directories.h"
#include "verifier/extract/places.h"

namespace lie {

/// Returns the folder of the shared data, next to the repository.
inline std::filesystem::path shared_data() {
  return std::filesystem::path(source_directory()) / ".." / "shared" / "data";
}

/// Returns the rows of a JSONL file or JSON array, or none where the file is absent.
inline std::vector<nlohmann::json> rows_of(const std::filesystem::path& path) {
  std::vector<nlohmann::json> rows;
  std::ifstream in(path);
  if (in && in.peek() == '[') return nlohmann::json::parse(in).get<std::vector<nlohmann::json>>();
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) rows.push_back(nlohmann::json::parse(line));
  return rows;
}

inline std::string text_of(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Returns the answer field, the first final answer, or the box of the solution.
inline std::optional<std::string> gold_of(const nlohmann::json& row) {
  if (row.contains("final_answer") && row["final_answer"].is_array())
    return text_of(row["final_answer"][0]);
  if (row.contains("answer") && !row["answer"].is_null()) {
    const std::string answer = text_of(row["answer"]);
    const std::size_t mark = answer.rfind("#### ");
    return mark == std::string::npos ? answer : answer.substr(mark + 5);
  }
  if (!row.contains("solution")) return std::nullopt;
  const auto boxes =
      extract::last_boxes(row["solution"].get_ref<const std::string&>(), true, false);
  if (boxes.empty()) return std::nullopt;
  return std::string(boxes.front().content);
}

/// Returns the golds of the shared problem sets by file, or none where the folder is absent.
inline std::map<std::string, std::vector<std::string>> published_golds() {
  std::map<std::string, std::vector<std::string>> out;
  const std::filesystem::path folder = shared_data() / "problems";
  if (!std::filesystem::exists(folder)) return out;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string file = entry.path().filename().string();
    if (file.find("model_solutions") != std::string::npos) continue;
    for (const nlohmann::json& row : rows_of(entry.path()))
      if (const std::optional<std::string> gold = gold_of(row); gold && !gold->empty())
        out[file].push_back(*gold);
  }
  return out;
}

}  // namespace lie
