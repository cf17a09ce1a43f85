// A header has one subject. Its first lines are the only file comment: a second one, in the middle
// of the header, shows where two headers were joined.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/directories.h"
#include "tests/house/includes.h"

namespace {

std::vector<std::string> lines_of(std::istream& file) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// Returns whether a line belongs to a comment that describes no declaration: "// text", but not
// "/// text", and not "// ---- text", which divides the functions of one subject.
bool is_plain_comment(const std::string& line) {
  return line == "//" || (line.starts_with("// ") && !line.starts_with("// ----"));
}

// Returns the numbers, from 1, of the lines that begin a file comment after "#pragma once": a
// comment at the beginning of lines that stands between two empty lines.
std::vector<std::size_t> later_file_comments(const std::vector<std::string>& lines) {
  std::vector<std::size_t> found;
  std::size_t i = 0;
  while (i < lines.size() && !lines[i].starts_with("#pragma once")) ++i;
  for (; i < lines.size(); ++i) {
    const bool begins = is_plain_comment(lines[i]) && lines[i - 1].empty();
    if (!begins) continue;
    const std::size_t first = i;
    while (i < lines.size() && is_plain_comment(lines[i])) ++i;
    if (i < lines.size() && lines[i].empty()) found.push_back(first + 1);
  }
  return found;
}

TEST(HeaderSubjects, AFileCommentInTheMiddleOfAHeaderIsFound) {
  const std::vector<std::string> two = {"// One.",
                                        "#pragma once",
                                        "",
                                        "int one();",
                                        "",
                                        "// Two.",
                                        "// More.",
                                        "",
                                        "/// Three.",
                                        "",
                                        "// ----",
                                        "",
                                        "// Of a declaration.",
                                        "int two();"};
  EXPECT_EQ(later_file_comments(two), std::vector<std::size_t>{6});
  EXPECT_TRUE(later_file_comments({"// One.", "#pragma once", "", "int one();"}).empty());
}

TEST(HeaderSubjects, EveryHeaderOfTheProgramHasOne) {
  std::size_t headers = 0;
  for (const std::string& path : lie::sources_below(lie::program_folders())) {
    if (!path.ends_with(".h") && !path.ends_with(".cuh")) continue;
    ++headers;
    std::ifstream file(std::string(lie::source_directory()) + "/" + path);
    for (const std::size_t line : later_file_comments(lines_of(file))) {
      ADD_FAILURE() << path << ":" << line
                    << ": a second file comment; move what it describes to a header of its own";
    }
  }
  EXPECT_GT(headers, 200U);
}

}  // namespace
