// The judge's answers on disk, so that no question is asked twice, whenever a run was stopped.
//
//   DIRECTORY/answers.jsonl   a line per answer: key, model, topic, pass, code, text, detail,
//   tokens
//
// A key is the SHA-256 of the whole request: model, prompt text and parameters, without the
// endpoint's address and without its key. Lines are only appended; a last line without a newline is
// what a killed process left of one, and is cut off.
#pragma once

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "common/io/json.h"
#include "common/process/writer_lock.h"
#include "tools/judge/chat_client.h"

namespace lie::judge {

class AnswerCache {
 public:
  /// Locks and reads the directory, which is made if it is missing. Throws Error if another process
  /// uses it, or naming the line that is damaged.
  explicit AnswerCache(const std::filesystem::path& directory);

  /// Nothing if there is no answer.
  const Completion* find(const std::string& key) const;

  /// Keeps an answer; a final one also on disk, at once. `about` are further fields of its line.
  /// Throws Error if it cannot be written.
  void add(const std::string& key, const Json& about, const Completion& completion);

  const std::filesystem::path& file() const { return path_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::filesystem::path path_;
  std::unique_ptr<WriterLock> lock_;
  std::map<std::string, Completion> answers_;
  std::unique_ptr<std::FILE, Close> out_;
};

}  // namespace lie::judge
