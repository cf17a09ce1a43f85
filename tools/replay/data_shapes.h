// What a run's groups become in a data set.
//
//   responses   a row a response: the chosen columns
//   sft         {"prompt", "completion"}: TRL's SFTTrainer
//   messages    {"messages": [..., {"role": "assistant", ...}]}: TRL's and verl's SFT
//   pairs       {"prompt", "chosen", "rejected"}: TRL's DPOTrainer
//   problems    {"data_source", "prompt": [...], "ability", "reward_model": {"style",
//               "ground_truth"}, "reference_length", "extra_info": {...}}: verl's RL, and
//               data.train_file
//
// TRL: huggingface.co/docs/trl/dataset_formats. verl: verl.readthedocs.io/en/latest/preparation.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/dataset/row_file.h"
#include "tools/replay/logged_group.h"

namespace lie::replay {

/// Of the groups' share of right responses, both ends included.
struct AccuracyBounds {
  double least = 0, most = 1;
  bool contain(double accuracy) const { return least <= accuracy && accuracy <= most; }
};

struct ShapeOptions {
  std::string shape = "responses";
  std::vector<std::string> columns;  // of responses; empty: the default ones
  int best = 1;                      // of sft and messages: right responses a group; 0: all
  bool messages = false;             // of sft and pairs: chat messages, not texts
  AccuracyBounds accuracy;
};

/// Rows of a group or problem, or why it has none: "groups without a right response".
struct GroupRows {
  std::vector<Row> rows = {};
  const char* left_out = nullptr;
};

class DataShape {
 public:
  virtual ~DataShape() = default;
  virtual Row example() const = 0;
  virtual GroupRows rows(const LoggedGroup& group) = 0;
  /// What comes after the last group.
  virtual std::vector<GroupRows> rest() { return {}; }
};

/// Throws Error for options that the shape does not have.
std::unique_ptr<DataShape> make_shape(const ShapeOptions& options, std::span<const LoggedRun> runs);

}  // namespace lie::replay
