// starts.jsonl: the starts of a run, with what each of them warned of and how it ended.
//
// One JSON object per line, with a checksum (common/io/crc32c.h). A start appends a line when it
// begins to write to the run directory, one for each warning about what the run learns, and one
// when its job has ended:
//   {"event":"start","time":1795000000.1,"command":"lie_cluster train","build_id":"0.1.0+3b80d0e",
//    "host":"n1","pid":4711,"slurm_job":"12","ranks":4,"crc32c":...}
//   {"event":"warning","time":1795000060.7,"text":"up to step 5 ...","crc32c":...}
//   {"event":"end","time":1795003600.2,"status":0,"crc32c":...}
// A killed job leaves its start without an end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lie {

struct StartRecord {
  double begun = 0;  // seconds since the epoch
  std::string command, build_id;
  std::string host;  // of rank 0
  std::int64_t pid = 0;
  std::string slurm_job;  // empty outside of Slurm
  std::int64_t ranks = 1;
  std::optional<double> ended;  // seconds since the epoch; empty: not recorded
  int status = 0;               // exit status of the job, if it has ended
};

/// Appends the start of this process to the record of a run directory. Throws Error.
void record_start(const std::filesystem::path& directory, std::string_view command,
                  std::int64_t ranks);

/// Appends a warning of the last start. Writes nothing if the file cannot be written: a warning is
/// in the log, too, and must not end a run.
void record_warning(const std::filesystem::path& directory, std::string_view text);

/// Appends the end of the last start. Throws Error.
void record_end(const std::filesystem::path& directory, int status);

/// The content of starts.jsonl.
struct StartsFile {
  std::vector<StartRecord> starts;    // in the order of the file
  std::vector<std::string> warnings;  // of all starts, each text once
  std::vector<std::string> damage;    // a sentence with file and line number per damaged line
};

/// Reads the valid lines. A missing file has no starts. An incomplete last line is no damage.
StartsFile read_starts(const std::filesystem::path& directory);

}  // namespace lie
