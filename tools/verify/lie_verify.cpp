// The program lie_verify verifies one pair on the command line, or a JSONL file of pairs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/base/error.h"
#include "common/base/identity.h"
#include "common/io/line_input.h"
#include "common/process/program.h"
#include "common/text/counted.h"
#include "tools/arguments/values.h"
#include "tools/verify/jsonl.h"
#include "verifier/verify.h"

namespace lie {
namespace {

struct Arguments {
  std::string first;   // gold, or a file of pairs ("-": standard input)
  std::string second;  // response
  std::string mode = "reward";
  bool explains = false;
  int threads = 0;
  std::vector<std::string> settings;
};

void print_rules() {
  VerifierOptions options;
  FieldList fields;
  describe(fields, options);
  for (const Field& field : fields.fields())
    std::cout << fmt::format("{:<22} {:<10} {}\n", field.key, field.default_text, field.info.help);
}

int one_pair(const Arguments& arguments, const VerifierOptions& options) {
  const Verdict verdict = arguments.explains ? explain(arguments.first, arguments.second, options)
                                             : verify(arguments.first, arguments.second, options);
  std::cout << fmt::format("{} ({})\n", verdict.correct() ? "correct" : "incorrect",
                           name(verdict.code));
  if (arguments.explains) {
    std::cout << fmt::format(
        "extracted: {}\nreason:    {}\ngold:      {}\nanswer:    {}\nsteps:     {}\n",
        verdict.extracted, verdict.reason, verdict.gold_form, verdict.answer_form, verdict.steps);
  }
  return verdict.correct() ? 0 : 1;
}

int file_of_pairs(const Arguments& arguments, const VerifierOptions& options) {
  LineInput in(arguments.first);
  const int threads = arguments.threads > 0
                          ? arguments.threads
                          : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const VerifyCounts counts = verify_jsonl(in.stream(), in.name(), std::cout, std::cerr, options,
                                           arguments.explains, threads);
  in.require_read();
  std::cerr << counted(counts.rows, "row");
  for (std::size_t code = 0; code < counts.by_code.size(); ++code)
    if (counts.by_code[code] > 0)
      std::cerr << fmt::format(", {} {}", counts.by_code[code],
                               name(static_cast<VerdictCode>(code)));
  std::cerr << fmt::format(", {} bad\n", counts.bad_rows);
  return counts.bad_rows == 0 ? 0 : 2;
}

// Moves the answers behind "--", since an answer such as -\frac12 begins like an option.
std::vector<const char*> with_answers_last(const CLI::App& app, int argc, char** argv) {
  std::vector<const char*> out = {argv[0]}, answers;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool long_option = argument.starts_with("--") && argument.size() > 2;
    const CLI::Option* option = app.get_option_no_throw(argv[i]);
    if (argument == "--") {
      answers.insert(answers.end(), argv + i + 1, argv + argc);
      break;
    }
    const bool known = argument.starts_with('-') && argument.size() > 1 && option != nullptr;
    if (!known && !long_option) {
      answers.push_back(argv[i]);
      continue;
    }
    out.push_back(argv[i]);
    const bool takes_value = known && option->get_items_expected_max() > 0;
    if (takes_value && i + 1 < argc) out.push_back(argv[++i]);
  }
  if (!answers.empty()) out.push_back("--");
  out.insert(out.end(), answers.begin(), answers.end());
  return out;
}

int run(int argc, char** argv) {
  Arguments arguments;
  bool rules = false;
  CLI::App app(
      "Verifies answers: lie_verify GOLD RESPONSE, or lie_verify PAIRS.jsonl > VERDICTS.jsonl");
  app.set_version_flag("--version", std::string(build_id()));
  app.add_option("gold_or_file", arguments.first,
                 "the correct answer, or a file of pairs (-: standard input)");
  app.add_option("response", arguments.second, "the response to verify");
  app.add_option("--mode", arguments.mode,
                 "reward: the last box; lenient: wherever an answer may stand")
      ->check(CLI::IsMember({"reward", "lenient"}));
  app.add_flag("--explain", arguments.explains, "show both parsed forms and the reason");
  app.add_option("--threads", arguments.threads, "threads for a file; 0: all cores")
      ->check(integers(0, 1024));
  app.add_option("--set", arguments.settings, "rule=value, may be given several times")
      ->allow_extra_args(false);
  app.add_flag("--rules", rules, "list the rules with their defaults");
  app.footer(
      "Exit status: 0 correct, or a file without bad rows; 1 incorrect; 2 a bad row or input that "
      "cannot be\nused; above 100 a refused command line.");
  const std::vector<const char*> ordered = with_answers_last(app, argc, argv);
  CLI11_PARSE(app, static_cast<int>(ordered.size()), ordered.data());
  if (rules) return print_rules(), 0;
  if (arguments.first.empty())
    throw CommandLineError("nothing to verify; give GOLD RESPONSE or PAIRS.jsonl (see --help)");
  VerifierOptions options;
  options.mode = arguments.mode == "lenient" ? ExtractionMode::kLenient : ExtractionMode::kReward;
  for (const std::string& setting : arguments.settings) set_rule(options, setting);
  return app.count("response") > 0 ? one_pair(arguments, options)
                                   : file_of_pairs(arguments, options);
}

}  // namespace
}  // namespace lie

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);  // in_avail() of a pipe needs its own buffer
  return lie::run_program("lie_verify", [&] { return lie::run(argc, argv); }, {.failed = 2});
}
