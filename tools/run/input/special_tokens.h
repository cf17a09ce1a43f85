// Finds special tokens of a model in the texts of prompts.
#pragma once

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/rollout/chat.h"
#include "common/text/counted.h"

namespace lie {

/// Counts prompts whose messages hold special tokens of the model. The tokenizer reads those as
/// such, so that a row can end a turn or begin another.
class SpecialTokenSearch {
 public:
  /// `tokens` are those of Tokenizer::special_tokens().
  explicit SpecialTokenSearch(std::vector<std::string> tokens = {}) : tokens_(std::move(tokens)) {}

  void add(std::span<const ChatMessage> messages) {
    bool holds_any = false;
    for (const std::string& token : tokens_) {
      const auto holds = [&](const ChatMessage& message) {
        return message.content.find(token) != std::string::npos;
      };
      if (!std::ranges::any_of(messages, holds)) continue;
      holds_any = true;
      found_.insert(token);
    }
    prompts_ += holds_any ? 1 : 0;
  }

  void append_remark(std::vector<std::string>& remarks) const {
    if (prompts_ == 0) return;
    remarks.push_back(
        fmt::format("the texts of {} hold special tokens of the tokenizer ({}); they are "
                    "read as such, as transformers does",
                    counted(prompts_, "prompt"), fmt::join(found_, ", ")));
  }

 private:
  std::vector<std::string> tokens_;
  std::set<std::string> found_;
  std::int64_t prompts_ = 0;
};

}  // namespace lie
