// A study as one HTML file that needs nothing else.
#pragma once

#include <string>

#include "tools/study/study.h"

namespace lie::study {

std::string study_page(const Study& study);

}  // namespace lie::study
