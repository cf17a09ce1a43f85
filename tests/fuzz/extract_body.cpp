#include "tests/fuzz/bodies.h"

#include <vector>

#include "verifier/extract/answer.h"
#include "verifier/extract/places.h"

namespace lie::fuzz {

void extract_body(std::string_view input) {
  VerifierOptions options;
  options.choices = {"A", "B"};
  const std::vector<extract::Box> boxes = extract::all_boxes(input, true);
  for (const extract::Box& box : boxes) require(box.end <= input.size() && box.begin < box.end);
  // The scans from the front and from the end must find the same boxes.
  const std::vector<extract::Box> last = extract::last_boxes(input, true, true);
  require(last.size() <= boxes.size() && last.empty() == boxes.empty());
  for (std::size_t i = 1; i <= last.size(); ++i)
    require(last[last.size() - i].begin == boxes[boxes.size() - i].begin &&
            last[last.size() - i].end == boxes[boxes.size() - i].end);
  extract::from_boxes(input, options);
  std::size_t candidates = 0;
  extract::from_prose(input, options, [&](const extract::Candidate&) {
    ++candidates;
    return false;
  });
  require(candidates <= 2 * input.size() + 1);
  extract::from_gold(input, options);
}

}  // namespace lie::fuzz
