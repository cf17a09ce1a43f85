#include "tools/replay/chat_turns.h"

#include <utility>

#include "common/base/error.h"
#include "common/dataset/dataset.h"
#include "model/tokenizer/template/templates.h"
#include "model/tokenizer/utf8.h"

namespace lie::replay {
namespace {

Row message(const std::string& role, const std::string& content) {
  return {{"role", role}, {"content", repair_utf8(content)}};
}

}  // namespace

ChatTurns::ChatTurns(const LoggedRun& run) {
  const DataOptions& data = run.now.data;
  const PromptTemplate prompts = prompt_template(data.prompt_template, run.now.model.path);
  const RenderPrompt note = [&](std::span<const ChatMessage> messages) {
    Row turns = Row::array();
    for (const auto& [role, content] : messages) turns.push_back(message(role, content));
    std::string text = prompts.prompt(messages);
    turns_.emplace(text, std::move(turns));
    return text;
  };
  read_dataset(data.train_file, data, note);
  for (const std::string& file : data.evaluation_file) read_dataset(file, data, note);
}

const Row& ChatTurns::of(const LoggedGroup& group) const {
  const auto found = turns_.find(group.ticket().prompt.text);
  if (found != turns_.end()) return found->second;
  fail(
      "{}: no row of its data files gives the prompt of step {}, group {}: restore the files that "
      "it was made with, or name them by --set data.train_file=FILE and data.evaluation_file",
      group.run.directory.string(), group.ticket().step, group.ticket().group);
}

Row Wording::prompt(const LoggedGroup& group) {
  if (!messages_) return repair_utf8(group.ticket().prompt.text);
  return turns_.try_emplace(&group.run, group.run).first->second.of(group);
}

Row Wording::response(const LoggedGroup& group, std::size_t sample) const {
  if (!messages_) return repair_utf8(group.text(sample));
  return Row::array({message("assistant", group.text(sample))});
}

Row Wording::example() const { return messages_ ? Row::array({message("", "")}) : Row(""); }

}  // namespace lie::replay
