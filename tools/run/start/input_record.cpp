#include "tools/run/start/input_record.h"

#include <wordexp.h>

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "common/base/error.h"
#include "common/base/run_files.h"
#include "common/io/crc32c.h"
#include "common/io/file.h"
#include "common/io/json.h"
#include "common/io/sha256.h"
#include "common/process/log.h"
#include "common/trajectory/reader.h"
#include "common/trajectory/segments.h"
#include "model/config/model_config.h"
#include "model/config/parameter_layout.h"
#include "model/tokenizer/template/templates.h"
#include "model/tokenizer/tokenizer_json.h"
#include "model/weights/adapter_file.h"
#include "model/weights/weights.h"
#include "tools/run/config/policy_config.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = 64 << 20;  // of a program's file
constexpr double kGibibyte = 1 << 30;
constexpr std::int64_t kLoggedBytes = std::int64_t{8} << 30;  // some 10 s of hashing

/// Returns the constants of the forward pass: max_positions, ids and initial values are none.
std::string architecture_text(const ModelConfig& model) {
  std::string text = fmt::format(
      "{}: V {}, D {}, F {}, L {}, H {}, K {}, head_dim {}, rope_theta {}, rms_norm_eps {}",
      model.architecture, model.vocabulary, model.width, model.ffn_width, model.layers, model.heads,
      model.kv_heads, model.head_width, model.rope_theta, model.rms_norm_eps);
  if (const auto& rope = model.llama3_rope) {
    text += fmt::format(", rope llama3 {} {} {} {}", rope->factor, rope->low_frequency_factor,
                        rope->high_frequency_factor, rope->original_positions);
  }
  const std::pair<bool, const char*> flags[] = {{model.qk_norm, "qk_norm"},
                                                {model.qkv_bias, "qkv_bias"},
                                                {model.output_bias, "output_bias"},
                                                {model.tied_embeddings, "tied"}};
  for (const auto& [is_set, name] : flags) {
    if (is_set) text += fmt::format(", {}", name);
  }
  return text;
}

/// Returns the hash of the added tokens of all tokenizer files, and of the tokens that begin and
/// end texts.
std::string special_tokens_sha256(const fs::path& model) {
  TokenizerSpec spec = read_tokenizer_spec(model);
  std::ranges::sort(spec.added_tokens, {}, &AddedToken::id);
  Json tokens = Json::array();
  for (const AddedToken& token : spec.added_tokens) {
    tokens.push_back({token.id, token.content, token.pattern, token.single_word, token.lstrip,
                      token.rstrip, token.normalized, token.special});
  }
  tokens.push_back({spec.prefix, spec.suffix, spec.end_of_sequence.value_or("")});
  return sha256_hex(tokens.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace));
}

std::string template_text(const fs::path& model, const PromptOptions& prompts) {
  const PromptTemplate found =
      prompt_template(prompts.prompt_template, model, prompts.begin_of_sequence);
  const std::string text =
      found.own ? "SHA-256 " + sha256_hex(find_chat_template(model)->text) : found.name;
  return found.begin.empty() ? text : fmt::format("{} that begins with {}", text, found.begin);
}

Json json_of(const RowsRecord& rows) {
  return {{"rows", rows.rows},
          {"sha256", rows.sha256},
          {"sorted_sha256", rows.sorted_sha256},
          {"blocks", rows.blocks}};
}

std::optional<RowsRecord> rows_in(const Json& json) {
  if (json.is_null()) return std::nullopt;
  return RowsRecord{.rows = json.at("rows").get<std::int64_t>(),
                    .sha256 = json.at("sha256").get<std::string>(),
                    .sorted_sha256 = json.at("sorted_sha256").get<std::string>(),
                    .blocks = json.at("blocks").get<std::vector<std::string>>()};
}

/// Calls visit(name, text) for each part that is a text.
void for_each_text(auto& record, const auto& visit) {
  visit("weights_sha256", record.weights);
  visit("adapter_sha256", record.adapter);
  visit("architecture", record.architecture);
  visit("tokenizer_sha256", record.tokenizer);
  visit("special_tokens_sha256", record.special_tokens);
  visit("ends", record.ends);
  visit("prompt_template", record.prompt_template);
  visit("teacher_sha256", record.teacher);
  visit("teacher_architecture", record.teacher_architecture);
  visit("program_rows_sha256", record.program_rows);
  visit("evaluation_program_rows_sha256", record.evaluation_program_rows);
}

std::string text_of(const InputRecord& record) {
  Json json;
  for_each_text(record, [&](const char* name, const std::string& text) { json[name] = text; });
  json["program_files_sha256"] = record.program_files;
  if (record.training) json["training"] = json_of(*record.training);
  if (record.evaluation) json["evaluation"] = json_of(*record.evaluation);
  return with_checksum_comment(json.dump(2) + "\n");
}

InputRecord parse_record(const fs::path& path) {
  const std::string text = read_file(path);
  if (fits_checksum_comment(text) != true) {
    fail(
        "{}: does not fit its checksum, so the inputs of the run cannot be compared; restore a "
        "copy, or remove it: the next start then records the inputs that it finds",
        path.string());
  }
  const std::size_t comment = text.rfind('\n', text.size() - 2);
  const Json json = parse_json(std::string_view(text).substr(0, comment), path.string());
  InputRecord record;
  for_each_text(record, [&](const char* name, std::string& part) { part = json.value(name, ""); });
  record.program_files = json.value("program_files_sha256", std::map<std::string, std::string>());
  record.training = rows_in(json.value("training", Json()));
  record.evaluation = rows_in(json.value("evaluation", Json()));
  return record;
}

/// Returns what the trajectory files say about the inputs. Skips files that cannot be read.
InputRecord logged_inputs(const fs::path& run_directory) {
  InputRecord record;
  for (const Segment& segment : segments(run_directory / kTrajectories)) {
    try {
      const SegmentReader reader(segment.path);
      record.weights = reader.info().model_sha256;
      record.tokenizer = reader.info().tokenizer_sha256;
      return record;
    } catch (const Error&) {
      continue;  // recover_log() or --check name it
    }
  }
  return record;
}

/// Returns a word with ~ and variables replaced as a shell does; the word itself if that fails.
std::string expanded(const std::string& word) {
  if (word.find_first_of("~$") == std::string::npos) return word;
  wordexp_t words = {};
  std::string result = word;
  if (::wordexp(word.c_str(), &words, WRDE_NOCMD) == 0) {
    if (words.we_wordc == 1) result = words.we_wordv[0];
    ::wordfree(&words);
  }
  return result;
}

bool holds_config(const fs::path& run_directory) { return fs::exists(run_directory / kConfigFile); }

/// Returns the hash of the stored weights. Logs first if it takes more than some seconds.
std::string hashed_weights(const fs::path& model) {
  const std::int64_t bytes = parameter_count(parameter_layout(load_model_config(model))) *
                             static_cast<std::int64_t>(sizeof(float));
  if (bytes >= kLoggedBytes) {
    Log("start", 0)
        .info("hashing the weights of {}, {:.0f} GiB as fp32", model.string(),
              static_cast<double>(bytes) / kGibibyte);
  }
  return stored_weights_sha256(model);
}

/// Returns the SHA-256 of a start policy, as logs hold it.
std::string policy_sha256(const std::string& weights, const std::string& adapter) {
  const bool has_adapter = !adapter.empty() && adapter != kNoAdapter;
  return weights.empty() || !has_adapter ? weights : sha256_hex(weights + adapter);
}

}  // namespace

std::map<std::string, std::string> program_files(std::span<const std::string> commands) {
  std::map<std::string, std::string> files;
  for (const std::string& command : commands) {
    for (std::size_t begin = 0; begin < command.size();) {
      const std::size_t end = std::min(command.find_first_of(" \t\n'\"=;", begin), command.size());
      const fs::path file = expanded(command.substr(begin, end - begin));
      begin = end + 1;
      std::error_code error;
      if (!fs::is_regular_file(file, error) || fs::file_size(file, error) > kMostBytes) continue;
      files[file.string()] = sha256_hex(read_file(file));
    }
  }
  return files;
}

InputRecord model_record(const ModelOptions& options, const PromptOptions& prompts,
                         const EndTokens& ends, bool has_weights) {
  const fs::path model = options.path;
  const PolicyFiles policy = policy_files(options);
  InputRecord record;
  if (has_weights) {
    record.weights = hashed_weights(policy.base);
    record.adapter = policy.adapter.empty() ? kNoAdapter : adapter_sha256(policy);
    check_base(policy, record.weights);
  } else {
    check_base(policy);
  }
  Log("start", 0).warn_each(adapter_remarks(policy));
  record.architecture = architecture_text(load_model_config(model));
  record.tokenizer = tokenizer_sha256(model);
  record.special_tokens = special_tokens_sha256(model);
  record.ends = ends.text;
  record.prompt_template = template_text(model, prompts);
  record.model_path = model.string();
  record.adapter_path = policy.adapter.string();
  return record;
}

void record_teacher(InputRecord& record, const fs::path& directory) {
  const PolicyFiles teacher = find_policy(directory);
  const std::string weights = hashed_weights(teacher.base);
  record.teacher =
      policy_sha256(weights, teacher.adapter.empty() ? kNoAdapter : adapter_sha256(teacher));
  record.teacher_architecture = architecture_text(load_model_config(directory));
}

std::string policy_sha256(const InputRecord& record) {
  return policy_sha256(record.weights, record.adapter);
}

std::string tokenizer_sha256(const fs::path& model) {
  return sha256_hex(read_file(model / "tokenizer.json"));
}

std::string record_sha256(const InputRecord& record) { return sha256_hex(text_of(record)); }

InputRecord recorded_inputs(const fs::path& run_directory) {
  const fs::path file = run_directory / kInputsFile;
  return fs::exists(file) ? parse_record(file) : logged_inputs(run_directory);
}

bool record_inputs(const fs::path& run_directory, InputRecord now) {
  const fs::path file = run_directory / kInputsFile;
  const bool is_run = holds_config(run_directory), is_recorded = is_run && fs::exists(file);
  const InputRecord then = is_run ? recorded_inputs(run_directory) : InputRecord{};
  if (!now.evaluation) now.evaluation = then.evaluation;
  if (now.program_rows.empty()) now.program_rows = then.program_rows;
  if (now.evaluation_program_rows.empty()) {
    now.evaluation_program_rows = then.evaluation_program_rows;
  }
  const std::string text = text_of(now);
  if (!is_recorded || read_file(file) != text) write_file_atomically(file, text);
  return is_run && !is_recorded;
}

std::string unrecorded_text(const fs::path& run_directory) {
  const InputRecord logged = logged_inputs(run_directory);
  return fmt::format(
      "{} is missing, as in runs of older builds: {}; the inputs of this start are recorded now",
      (run_directory / kInputsFile).string(),
      logged.weights.empty()
          ? "weights, tokenizer, ends, template and data cannot be compared with the run's"
          : "weights and tokenizer are those of the log; ends, template and data cannot be "
            "compared with the run's");
}

}  // namespace lie
