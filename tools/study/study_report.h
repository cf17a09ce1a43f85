// A study as text, JSON, and one HTML file (study_page.cpp).
#pragma once

#include <string>
#include <vector>

#include "tools/study/study.h"

namespace lie::study {

/// Heads of the table's columns.
std::vector<std::string> column_heads();

/// A row's texts under them; "-" where it has none.
std::vector<std::string> row_cells(const Study& study, const RowResult& result);

/// Every table with its rows, columns aligned, and the notes.
std::string study_text(const Study& study);

/// {"rows": [...], "notes": [...]}: a row's name, table, paper, against, seeds, final accuracy of
/// each seed, means with intervals by metric, and the paired difference.
std::string study_json(const Study& study);

/// An HTML file that needs nothing else.
std::string study_page(const Study& study);

}  // namespace lie::study
