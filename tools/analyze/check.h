// Checks that a run directory still holds what was written to it (invariant E10).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lie::analyze {

/// A file that is damaged or missing.
struct Fault {
  std::string what;  // file, place and error
  std::string lost;  // what is lost, by learner and steps
  std::string remedy;
};

struct Validity {
  std::vector<Fault> faults;
  std::vector<std::string> read;  // "trajectories: 20 files, 40000 responses", a line for each kind
  std::vector<std::string> notes;  // files without checksums
};

/// Reads all of a run and verifies its checksums: every column of every complete step, the index,
/// each checkpoint, metrics, event files, journal and settings. Continues after a fault. Data that
/// is still being written, or that a killed run left unfinished, is not a fault. A file that the
/// run removes in the meantime is not a fault either. Needs memory for one column of one step, and
/// for the largest text file. Throws Error if there is no such directory.
Validity check_run(const std::filesystem::path& directory);

/// Returns the result as --check prints it.
std::string text_of(const Validity& validity);

}  // namespace lie::analyze
