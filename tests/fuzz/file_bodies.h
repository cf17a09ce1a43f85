// What the fuzz targets of files and messages do with their input: read it by the function that a
// run would use. Each input is either read or refused by an Error; all else (a crash, another
// exception, endless work) is a defect.
#pragma once

#include <string_view>

namespace lie::fuzz {

/// tokenizer.json; what can be read encodes and decodes.
void tokenizer_body(std::string_view input);

/// A .safetensors file, its floats converted.
void safetensors_body(std::string_view input);

/// A YAML config with fields of all types; what can be read is printed and read back.
void config_body(std::string_view input);

/// A JSONL file of rows.
void jsonl_body(std::string_view input);

/// A Parquet file of rows.
void parquet_body(std::string_view input);

/// A trajectory file.
void segment_body(std::string_view input);

/// A message between ranks.
void wire_body(std::string_view input);

/// A file of such messages.
void message_file_body(std::string_view input);

/// A chat template; what can be read renders a conversation.
void chat_template_body(std::string_view input);

}  // namespace lie::fuzz
