#include "tools/cluster/length_log.h"

#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "common/base/error.h"
#include "common/io/crc32c.h"
#include "common/io/file.h"
#include "common/io/json.h"

namespace lie {
namespace {

MeasuredLength lengths_of(const RolloutGroup& group) {
  MeasuredLength measured{.tokens = {}, .prompt_tokens_dropped = group.prompt_tokens_dropped};
  for (const Response& response : group.responses) {
    measured.tokens.push_back(std::ssize(response.ids));
    if (response.finish == FinishReason::kLength) ++measured.at_limit;
  }
  return measured;
}

}  // namespace

double MeasuredLength::mean() const {
  const auto sum = std::accumulate(tokens.begin(), tokens.end(), std::int64_t{0});
  return static_cast<double>(sum) / static_cast<double>(tokens.size());
}

LengthLog::LengthLog(std::filesystem::path path, const std::string& measurement)
    : path_(std::move(path)) {
  const std::string text = fs::exists(path_) ? read_file(path_) : "";
  const std::string_view rest =
      for_each_whole_line(text, [&](std::string_view line, std::size_t number) {
        take_line(line, number == 1 ? measurement : "");
      });
  const bool is_new = rest.size() == text.size();
  file_.emplace(path_, OutputFile::Begin::kAtEnd);
  cut_file(path_, text.size() - rest.size());  // an incomplete last line of a killed process
  if (is_new) file_->write(Json{{"measurement", measurement}}.dump() + "\n");
}

void LengthLog::take_line(std::string_view line, const std::string& measurement) {
  try {
    const Json row = Json::parse(line);
    if (!measurement.empty()) {
      if (row.at("measurement") == measurement) return;
    } else {
      measured_[row.at("group")] = {.tokens = row.at("tokens"),
                                    .at_limit = row.at("at_limit"),
                                    .prompt_tokens_dropped = row.at("prompt_tokens_dropped")};
      return;
    }
  } catch (const Json::exception&) {
    fail("{}: is not a file of measured lengths, or is damaged; remove it to measure again",
         path_.string());
  }
  fail(
      "{}: holds lengths of another model, data or sampling; remove it to measure again, or name "
      "another --output",
      path_.string());
}

void LengthLog::append(const RolloutGroup& group) {
  const MeasuredLength measured = lengths_of(group);
  const Json line = {{"group", group.ticket.group},
                     {"tokens", measured.tokens},
                     {"at_limit", measured.at_limit},
                     {"prompt_tokens_dropped", measured.prompt_tokens_dropped}};
  file_->write(line.dump() + "\n");
  measured_[group.ticket.group] = measured;
}

void LengthLog::remove() {
  file_.reset();
  remove_file(path_);
}

}  // namespace lie
