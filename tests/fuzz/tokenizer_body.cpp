#include "tests/fuzz/file_bodies.h"

#include "model/tokenizer/tokenizer.h"
#include "tests/fuzz/input.h"

namespace lie::fuzz {

void tokenizer_body(std::string_view input) {
  const std::filesystem::path path = file_with("tokenizer.json", input);
  read_or_refused([&] {
    const Tokenizer tokenizer = Tokenizer::load(path.parent_path());
    tokenizer.decode(tokenizer.encode("Let $x^2$ = \xc3\xa4\xf0\x9f\x98\x80 <|im_end|>\n\n 12345"));
  });
}

}  // namespace lie::fuzz
