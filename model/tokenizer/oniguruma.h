// Translates regular expressions from Oniguruma's dialect, in which tokenizer.json writes its
// patterns, to PCRE2's.
#pragma once

#include <string>

namespace lie {

/// Returns the pattern of PCRE2 (with PCRE2_MULTILINE) that matches what `pattern` matches in
/// Oniguruma, as the tokenizers library calls it. The dialects differ without an error in these
/// points, which are translated:
/// - `{n,m}+` repeats the interval and is not possessive, and `{n}?` makes it optional;
/// - `{,n}` begins at 0;
/// - `(?m)` lets a dot match a line end, and `^` and `$` always match at line ends;
/// - `(?i)` in the middle of a group extends over the alternatives that follow;
/// - `\h` is a hexadecimal digit and `\v` a vertical tab.
/// Throws Error with the position for what has no translation here, such as a set within a set.
std::string pcre2_pattern(const std::string& pattern);

}  // namespace lie
