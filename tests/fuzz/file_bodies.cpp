#include "tests/fuzz/file_bodies.h"

#include <cstdlib>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "common/comm/message_file.h"
#include "common/comm/wire.h"
#include "common/config.h"
#include "common/dataset/field_names.h"
#include "common/dataset/rows.h"
#include "common/error.h"
#include "common/trajectory/reader.h"
#include "model/safetensors.h"
#include "model/tokenizer/jinja.h"
#include "model/tokenizer/tokenizer.h"
#include "tests/temporary_directory.h"

namespace lie::fuzz {
namespace {

namespace fs = std::filesystem;

/// Only an Error is an expected end.
void read_or_refused(const std::function<void()>& read) {
  try {
    read();
  } catch (const Error&) {
  }
}

/// The input as a file of that name, in a directory that lasts as long as the process.
fs::path file_with(const char* name, std::string_view input) {
  static const TemporaryDirectory directory;
  return directory.write(name, input);
}

void read_rows(const char* name, std::string_view input) {
  const fs::path path = file_with(name, input);
  read_or_refused([&] {
    std::vector<std::string> skipped;
    for_each_row(
        path, [](const JsonRow& row, std::int64_t) { guess_fields(row); }, &skipped);
  });
}

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

template <typename T>
void unpack_again(std::span<const std::byte> bytes) {
  read_or_refused([&] {
    const Bytes again = wire::pack(wire::unpack<T>(bytes));
    if (!std::ranges::equal(again, bytes)) std::abort();
  });
}

}  // namespace

void tokenizer_body(std::string_view input) {
  const fs::path path = file_with("tokenizer.json", input);
  read_or_refused([&] {
    const Tokenizer tokenizer = Tokenizer::load(path.parent_path());
    tokenizer.decode(tokenizer.encode("Let $x^2$ = \xc3\xa4\xf0\x9f\x98\x80 <|im_end|>\n\n 12345"));
  });
}

void safetensors_body(std::string_view input) {
  const fs::path path = file_with("model.safetensors", input);
  read_or_refused([&] {
    const SafetensorsFile file(path);
    for (const SafetensorsEntry& entry : file.entries()) {
      if (!is_float_dtype(entry.dtype)) continue;
      std::vector<float> values(entry.data.size() / (entry.dtype == "F32" ? 4 : 2));
      read_floats(entry, values);
    }
  });
}

void config_body(std::string_view input) {
  const fs::path path = file_with("config.yaml", input);
  read_or_refused([&] {
    Everything all;
    load_config(fields_of(all), path, {});
    Everything again;
    load_config(fields_of(again), file_with("again.yaml", dump_config_of(all)), {});
    if (dump_config_of(again) != dump_config_of(all)) std::abort();
  });
}

void jsonl_body(std::string_view input) { read_rows("rows.jsonl", input); }

void parquet_body(std::string_view input) { read_rows("rows.parquet", input); }

void segment_body(std::string_view input) {
  const fs::path path = file_with("learner-000-segment-000000.h5", input);
  read_or_refused([&] {
    const SegmentReader reader(path);
    for (std::size_t i = 0; i < reader.steps().size(); ++i) {
      reader.rows_of_step(schema::Table::kSample, i);
    }
    reader.read(schema::token::kId);
  });
}

void wire_body(std::string_view input) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(input));
  unpack_again<TicketRequest>(bytes);
  unpack_again<Assignment>(bytes);
  unpack_again<RolloutGroup>(bytes);
  unpack_again<ScoredGroup>(bytes);
  unpack_again<std::vector<RolloutGroup>>(bytes);
  unpack_again<std::vector<ScoredGroup>>(bytes);
}

void chat_template_body(std::string_view input) {
  const std::vector<ChatMessage> messages = {{"system", "S\n"},
                                             {"user", " \xc3\xa4 "},
                                             {"assistant", "<think>\nt</think>b"},
                                             {"user", ""}};
  read_or_refused([&] {
    const JinjaTemplate jinja(std::string(input), "fuzz");
    jinja.render(messages, true, {{"bos_token", "<s>"}, {"eos_token", "</s>"}});
  });
}

}  // namespace lie::fuzz
