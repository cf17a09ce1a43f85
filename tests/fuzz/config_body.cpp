#include "tests/fuzz/file_bodies.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "common/config/config.h"
#include "tests/fuzz/input.h"

namespace lie::fuzz {
namespace {

struct Everything {
  bool flag = false;
  std::int64_t count = 1;
  double share = 0.5;
  std::string text;
  std::vector<std::int64_t> counts;
  std::vector<std::string> texts;
};

void describe(FieldList& fields, Everything& all) {
  fields.add("flag", all.flag, {"A flag."});
  fields.add("count", all.count, {"A number.", "", 0});
  fields.add("part.share", all.share, {"A share."});
  fields.add("part.text", all.text, {"A text."});
  fields.add("part.counts", all.counts, {"Numbers."});
  fields.add("texts", all.texts, {"Texts."});
}

}  // namespace

void config_body(std::string_view input) {
  const std::filesystem::path path = file_with("config.yaml", input);
  read_or_refused([&] {
    Everything all;
    load_config(fields_of(all), path, {});
    Everything again;
    load_config(fields_of(again), file_with("again.yaml", dump_config_of(all)), {});
    if (dump_config_of(again) != dump_config_of(all)) std::abort();
  });
}

}  // namespace lie::fuzz
