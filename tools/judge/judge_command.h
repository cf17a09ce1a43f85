// lie_analyze judge and lie_analyze behaviours: what responses do, by a judge or by their wording.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/judge/questions.h"
#include "tools/judge/sampled_responses.h"

namespace lie::judge {

/// What both commands take.
struct SourceArguments {
  std::vector<std::filesystem::path> sources;  // run directories or JSONL files
  SampleChoice choice;
  std::filesystem::path json;  // empty: none
};

struct JudgeArguments : SourceArguments {
  AskOptions ask;
  RequestOptions request;
  std::string extra = "{}";                        // request.extra as JSON
  std::string key_variable = "LIE_JUDGE_API_KEY";  // of the environment
  int passes = 1;
  std::filesystem::path cache;  // directory; empty: RUN_DIR/judge or FILE.judge
};

/// Prints to standard output. Returns the exit status: 2 where answers are missing. Throws Error.
int judge_command(JudgeArguments arguments);

struct BehavioursArguments : SourceArguments {
  std::filesystem::path phrases;  // empty: built in
};

/// Prints to standard output. Throws Error.
void behaviours_command(const BehavioursArguments& arguments);

}  // namespace lie::judge
