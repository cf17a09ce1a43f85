#include "common/process/start_record.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/base/identity.h"
#include "common/base/run_files.h"
#include "common/io/crc32c.h"
#include "common/io/file.h"
#include "common/io/json.h"
#include "common/io/line_input.h"
#include "common/io/output_file.h"
#include "common/process/writer_lock.h"

namespace lie {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// Appends one line. First ends an incomplete line, which a killed process may have left.
void append_line(const fs::path& directory, const OrderedJson& event) {
  const fs::path path = directory / kStartsFile;
  const std::string before = fs::exists(path) ? read_file(path) : std::string();
  const char* end_of_line = before.empty() || before.ends_with('\n') ? "" : "\n";
  OutputFile file(path, OutputFile::Begin::kAtEnd);
  file.write(end_of_line + with_checksum(event.dump()) + "\n");
  file.close();
}

StartRecord start_of(const OrderedJson& line) {
  return {.begun = line.at("time").get<double>(),
          .command = line.value("command", ""),
          .build_id = line.value("build_id", ""),
          .host = line.value("host", ""),
          .pid = line.value("pid", std::int64_t{0}),
          .slurm_job = line.value("slurm_job", ""),
          .ranks = line.value("ranks", std::int64_t{1}),
          .ended = {},
          .status = 0};
}

/// Adds the event of a line to the content. Returns false if the line is damaged.
bool take_event(std::string_view text, StartsFile& file) try {
  if (!is_valid(text)) return false;
  const OrderedJson line = OrderedJson::parse(text);
  const std::string event = line.at("event").get<std::string>();
  if (event == "start") {
    file.starts.push_back(start_of(line));
  } else if (event == "warning") {
    const std::string warning = line.at("text").get<std::string>();
    if (std::ranges::find(file.warnings, warning) == file.warnings.end()) {
      file.warnings.push_back(warning);
    }
  } else if (!file.starts.empty()) {
    file.starts.back().ended = line.at("time").get<double>();
    file.starts.back().status = line.at("status").get<int>();
  }
  return true;
} catch (const OrderedJson::exception&) {
  return false;
}

}  // namespace

void record_start(const fs::path& directory, std::string_view command, std::int64_t ranks) {
  const LockHolder self = this_process(command);
  append_line(directory, {{"event", "start"},
                          {"time", unix_seconds()},
                          {"command", self.command},
                          {"build_id", build_id()},
                          {"host", self.host},
                          {"pid", self.pid},
                          {"slurm_job", self.slurm_job},
                          {"ranks", ranks}});
}

void record_warning(const fs::path& directory, std::string_view text) {
  try {
    append_line(directory, {{"event", "warning"}, {"time", unix_seconds()}, {"text", text}});
  } catch (const Error&) {
  }
}

void record_end(const fs::path& directory, int status) {
  append_line(directory, {{"event", "end"}, {"time", unix_seconds()}, {"status", status}});
}

StartsFile read_starts(const fs::path& directory) {
  const fs::path path = directory / kStartsFile;
  StartsFile file;
  if (!fs::exists(path)) return file;
  for_each_whole_line(read_file(path), [&](std::string_view line, std::size_t number) {
    if (take_event(line, file)) return;
    file.damage.push_back(fmt::format("{}:{}: the line is damaged", path.string(), number));
  });
  return file;
}

}  // namespace lie
