// Finds the sources that contain a name, so that tests can say where it may stand.
#pragma once

#include <regex>
#include <set>
#include <string>

namespace lie {

/// Returns the headers and sources of the program that contain a match, relative to the repository.
std::set<std::string> files_that_match(const std::regex& name);

}  // namespace lie
