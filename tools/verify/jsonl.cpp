#include "tools/verify/jsonl.h"

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/io/json.h"
#include "common/io/json_numbers.h"
#include "common/process/program.h"

namespace lie {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kBatchRows = 4096;

// One line: its input, and its output or the error in it.
struct Line {
  std::int64_t number = 0;
  std::string text, out, complaint;
  VerdictCode code = VerdictCode::kNoAnswer;
};

/// Parses a line. Returns a discarded value if it is not JSON. Sets the line's complaint if a key
/// of the row appears twice.
Json parse_row(Line& line, const std::string& text) {
  std::set<std::string> keys;
  const auto note_key = [&](int depth, Json::parse_event_t event, Json& parsed) {
    const bool is_key = event == Json::parse_event_t::key && depth == 1;
    if (is_key && !keys.insert(parsed.get<std::string>()).second && line.complaint.empty()) {
      line.complaint = "key \"" + parsed.get<std::string>() + "\" appears twice; delete one";
    }
    return true;
  };
  return Json::parse(text, note_key, false);
}

void verify_line(Line& line, const VerifierOptions& options, bool explains) {
  if (nests_too_deep(line.text)) {
    line.complaint = "lists and objects nest too deep";
    return;
  }
  const std::string quoted = quote_rounded_numbers(line.text);
  Json row = parse_row(line, quoted);
  if (row.is_discarded() || !row.is_object()) line.complaint = "not a JSON object";
  if (!line.complaint.empty()) return;
  for (const char* key : {"gold", "response"}) {
    const bool gold = std::string_view(key) == "gold";
    if (row.contains(key) && (row[key].is_string() || (gold && row[key].is_number()))) continue;
    line.complaint = std::string("no text under \"") + key + "\"";
    return;
  }
  const std::string gold =
      row["gold"].is_number() ? row["gold"].dump() : row["gold"].get<std::string>();
  const auto& response = row["response"].get_ref<const std::string&>();
  const std::string prompt = row.value("prompt", Json()).is_string() ? row["prompt"] : "";
  const Verdict verdict =
      explains ? explain(gold, response, options, prompt) : verify(gold, response, options, prompt);
  line.code = verdict.code;
  const bool has_rounded = quoted != line.text;
  if (has_rounded) row = Json::parse(mark_rounded_numbers(line.text));
  row["correct"] = verdict.correct();
  row["reason"] = name(verdict.code);
  row["extracted"] = verdict.extracted;
  if (explains) {
    row["why"] = verdict.reason;
    row["gold_form"] = verdict.gold_form;
    row["answer_form"] = verdict.answer_form;
  }
  line.out = row.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (has_rounded) line.out = restored_numbers(line.out);
}

/// Reads the rows that are available without blocking, so that no answer is delayed in a pipe.
std::vector<Line> read_batch(std::istream& in, std::int64_t& number) {
  std::vector<Line> batch;
  std::string text;
  while (batch.size() < kBatchRows && (batch.empty() || in.rdbuf()->in_avail() > 0) &&
         std::getline(in, text)) {
    ++number;
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    batch.emplace_back().text = std::move(text);
    batch.back().number = number;
  }
  return batch;
}

void verify_all(std::vector<Line>& batch, const VerifierOptions& options, bool explains,
                int threads) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < batch.size(); i = next++)
      verify_line(batch[i], options, explains);
    release_thread_caches();
  };
  std::vector<std::jthread> team;
  const std::size_t members = std::min(static_cast<std::size_t>(threads), batch.size());
  for (std::size_t t = 1; t < members; ++t) team.emplace_back(work);
  work();
}

}  // namespace

VerifyCounts verify_jsonl(std::istream& in, std::string_view name, std::ostream& out,
                          std::ostream& errors, const VerifierOptions& options, bool explains,
                          int threads) {
  VerifyCounts counts;
  std::int64_t number = 0;
  while (true) {
    std::vector<Line> batch = read_batch(in, number);
    if (batch.empty()) return counts;
    verify_all(batch, options, explains, threads);
    for (const Line& line : batch) {
      ++counts.rows;
      if (line.complaint.empty()) {
        ++counts.by_code[static_cast<std::size_t>(line.code)];
        out << line.out << '\n';
      } else {
        ++counts.bad_rows;
        errors << name << ':' << line.number << ": " << line.complaint << '\n';
      }
    }
    flush_output(out);
  }
}

}  // namespace lie
