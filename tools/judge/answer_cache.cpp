#include "tools/judge/answer_cache.h"

#include <utility>

#include "common/base/error.h"
#include "common/io/file.h"
#include "common/io/json_lines.h"
#include "common/io/line_input.h"

namespace lie::judge {
namespace {

AnswerCode code_of(const JsonRow& row) {
  const std::string found = row.required_text("code");
  for (const AnswerCode code : {AnswerCode::kOk, AnswerCode::kRefused, AnswerCode::kTruncated}) {
    if (found == name(code)) return code;
  }
  fail("{}: unknown code {}; delete the line to have the question asked again", row.place(), found);
}

std::pair<std::string, Completion> read_line(std::string_view line, const std::string& place) {
  const JsonRow row = parse_json_row(line, place);
  return {row.required_text("key"),
          {.code = code_of(row),
           .text = row.required_text("text"),
           .detail = row.required_text("detail"),
           .prompt_tokens = row.integer("prompt_tokens").value_or(0),
           .completion_tokens = row.integer("completion_tokens").value_or(0)}};
}

}  // namespace

AnswerCache::AnswerCache(const std::filesystem::path& directory)
    : path_(directory / "answers.jsonl") {
  make_directories(directory);
  lock_ = std::make_unique<WriterLock>(directory, "lie_analyze judge");
  for_each_whole_line(path_, [&](std::string_view line, std::size_t number) {
    answers_.insert(read_line(line, fmt::format("{}:{}", path_.string(), number)));
  });
  out_.reset(std::fopen(path_.c_str(), "ab"));
  if (!out_) fail("{}: cannot be written; name another directory by --cache", path_.string());
}

const Completion* AnswerCache::find(const std::string& key) const {
  const auto found = answers_.find(key);
  return found == answers_.end() ? nullptr : &found->second;
}

void AnswerCache::add(const std::string& key, const Json& about, const Completion& completion) {
  answers_[key] = completion;
  if (!completion.is_final()) return;
  Json line = about;
  line.update({{"key", key},
               {"code", name(completion.code)},
               {"text", completion.text},
               {"detail", completion.detail},
               {"prompt_tokens", completion.prompt_tokens},
               {"completion_tokens", completion.completion_tokens}});
  const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  const bool written = std::fwrite(text.data(), 1, text.size(), out_.get()) == text.size();
  if (!written || std::fflush(out_.get()) != 0) {
    fail("{}: cannot be written; is the disk full?", path_.string());
  }
}

}  // namespace lie::judge
