#include "common/trajectory/record.h"

#include <charconv>

#include "common/base/error.h"
#include "common/io/sha256.h"

namespace lie {

std::uint64_t info_checksum(const TrajectoryInfo& info) {
  // Write the length before each text, so that different texts never give the same sequence.
  std::string all;
  const auto add = [&](const std::string& text) { all += fmt::format("{}:{}", text.size(), text); };
  for (const auto* text :
       {&info.build_id, &info.config, &info.model_sha256, &info.tokenizer_sha256}) {
    add(*text);
  }
  for (const auto& [name, about] : info.rewards) add(name), add(about);
  for (const std::string& name : info.numbers) add(name);
  all += fmt::format("{} {} {} {}", info.seed, info.learner_rank, info.learner_count,
                     info.starts_after_step);
  if (info.token_versions) all += " token_versions";
  if (info.drawn_groups) all += " drawn_groups";
  const std::string digits = sha256_hex(all).substr(0, 16);
  std::uint64_t checksum = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), checksum, 16);
  return checksum;
}

}  // namespace lie
