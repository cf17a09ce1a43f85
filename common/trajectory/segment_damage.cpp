#include "common/trajectory/segment_damage.h"

#include "common/base/error.h"

namespace lie {

SegmentDamage damage_of(const SegmentReader& file) {
  SegmentDamage damage;
  schema::for_each_column(file.info(), [&](const schema::ColumnInfo& column) {
    for (std::size_t i = 0; i < file.steps().size(); ++i) {
      try {
        file.read_bytes(column, file.rows_of_step(column.table, i));
      } catch (const Error& error) {
        if (damage.fault.empty()) damage.fault = error.what();
        damage.columns.insert(column.path);
        damage.steps.insert(file.steps()[i]);
      }
    }
  });
  return damage;
}

}  // namespace lie
