#include "tools/analyze/analyze_commands.h"

#include <fmt/format.h>

#include <memory>

#include "common/io/file.h"
#include "tools/arguments/output_argument.h"
#include "tools/study/study_report.h"

namespace lie {
namespace {

struct Request {
  std::string directory, json, html;
  bool overrides = false;
};

int print_overrides(const fs::path& directory) {
  fmt::print("{}", study::overrides_text(study::load_rows(directory / "rows.yaml")));
  return 0;
}

int run(const Request& request) {
  const fs::path directory = request.directory;
  if (request.overrides) return print_overrides(directory);
  const study::Study study = study::load_study(directory);
  if (!request.json.empty()) write_file_atomically(request.json, study::study_json(study));
  const fs::path page = request.html.empty() ? directory / "study.html" : fs::path(request.html);
  write_file_atomically(page, study::study_page(study));
  fmt::print("{}page: {}\n", study::study_text(study), page.string());
  return 0;
}

}  // namespace

void add_study_command(CLI::App& program, Chosen& chosen) {
  CLI::App* command = program.add_subcommand(
      "study",
      "The rows of scripts/study.sh: seeds, intervals, differences between matched pairs. Prints a "
      "table for each of the paper's and writes one HTML file");
  command->footer("");  // not the program's
  const auto request = std::make_shared<Request>();
  command->add_option("DIRECTORY", request->directory, "holds rows.yaml and <row>/seed-<n>")
      ->required();
  command->add_option("--json", request->json, "write the table with all intervals")
      ->check(output_file());
  command
      ->add_option("--html", request->html, "where to write the page [study.html in the directory]")
      ->check(output_file());
  command->add_flag("--overrides", request->overrides,
                    "only print each row's name and overrides, one row a line, by tabs");
  command->callback([request, &chosen] { chosen = [request] { return run(*request); }; });
}

}  // namespace lie
