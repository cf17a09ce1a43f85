// The bodies of the fuzz targets for files and messages. Each reads its input by the function that
// a run uses. An input must be either read or refused by an Error. A crash, another exception or a
// hang is a defect.
#pragma once

#include <string_view>

namespace lie::fuzz {

/// Reads a tokenizer.json. A valid one must encode and decode.
void tokenizer_body(std::string_view input);

/// Reads a .safetensors file and converts its floats.
void safetensors_body(std::string_view input);

/// Reads a YAML config with fields of all types. A valid one is printed and read back.
void config_body(std::string_view input);

/// Reads a JSONL file of rows.
void jsonl_body(std::string_view input);

/// Reads a Parquet file of rows.
void parquet_body(std::string_view input);

/// Reads a trajectory file.
void segment_body(std::string_view input);

/// Unpacks a message between ranks.
void wire_body(std::string_view input);

/// Reads a file of such messages.
void message_file_body(std::string_view input);

/// Reads a chat template. A valid one renders a conversation.
void chat_template_body(std::string_view input);

}  // namespace lie::fuzz
