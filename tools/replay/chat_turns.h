// Prompts and responses of a log as a training set has them: texts, or chat messages.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "common/dataset/row_file.h"
#include "tools/replay/logged_group.h"

namespace lie::replay {

/// The log has the text that a prompt template made; the messages it made it of are in the run's
/// data files.
class ChatTurns {
 public:
  /// Reads the run's data files, as its settings are now. Throws Error.
  explicit ChatTurns(const LoggedRun& run);
  /// [{"role", "content"}, ...]. Throws Error where no row of the data gives that prompt.
  const Row& of(const LoggedGroup& group) const;

 private:
  std::map<std::string, Row> turns_;  // by the prompt's text
};

class Wording {
 public:
  /// `messages`: lists of chat messages; else texts, the prompt's with the template around it.
  explicit Wording(bool messages) : messages_(messages) {}

  Row prompt(const LoggedGroup& group);
  Row response(const LoggedGroup& group, std::size_t sample) const;
  /// Of their kind.
  Row example() const;

 private:
  bool messages_;
  std::map<const LoggedRun*, ChatTurns> turns_;
};

}  // namespace lie::replay
