// Whether a run directory still holds what was written to it (invariant E10).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lie::analyze {

/// Something that is not as it was written.
struct Fault {
  std::string what;  // file, place and error
  std::string lost;  // by learner and steps
  std::string remedy;
};

struct Validity {
  std::vector<Fault> faults;
  std::vector<std::string> read;  // "trajectories: 20 files, 40000 responses", a line for each part
  std::vector<std::string> notes;  // what has no checksums
};

/// Reads all of a run: every column of every complete step, the index, each checkpoint, metrics,
/// event files, journal and settings, with their checksums; goes on behind a fault. What a live or
/// killed run is just writing is no fault, nor is a file that the run removes meanwhile. Memory:
/// one column of one step, and the greatest text file. Throws Error if there is no such directory.
Validity check_run(const std::filesystem::path& directory);

/// The result as --check prints it.
std::string text_of(const Validity& validity);

}  // namespace lie::analyze
