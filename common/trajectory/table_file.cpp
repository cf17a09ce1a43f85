#include "common/trajectory/table_file.h"

#include "common/file_aside.h"
#include "common/trajectory/hdf5.h"

namespace lie::h5 {
namespace {

/// Writes values of one type as a dataset; `type` in file and memory alike.
void write_column(hid_t file, const std::string& name, hid_t type, hsize_t count,
                  const void* values) {
  Handle space(checked_id(H5Screate_simple(1, &count, nullptr), "create column space"), H5Sclose);
  Handle dataset(
      H5Dcreate2(file, name.c_str(), type, space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
      H5Dclose);
  checked_id(dataset.id(), name);
  check(H5Dwrite(dataset.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), name);
}

void write_values(hid_t file, const std::string& name, const std::vector<double>& values) {
  write_column(file, name, H5T_NATIVE_DOUBLE, values.size(), values.data());
}

void write_values(hid_t file, const std::string& name, const std::vector<std::int64_t>& values) {
  write_column(file, name, H5T_NATIVE_INT64, values.size(), values.data());
}

void write_values(hid_t file, const std::string& name, const std::vector<std::string>& values) {
  Handle type(checked_id(H5Tcopy(H5T_C_S1), "copy string type"), H5Tclose);
  check(H5Tset_size(type.id(), H5T_VARIABLE), "set string size");
  check(H5Tset_cset(type.id(), H5T_CSET_UTF8), "set string encoding");
  std::vector<const char*> texts;
  for (const std::string& value : values) texts.push_back(value.c_str());
  write_column(file, name, type.id(), texts.size(), texts.data());
}

}  // namespace

void write_table(const std::filesystem::path& path, std::span<const TableColumn> columns) {
  FileAside aside(path);
  std::filesystem::remove(aside.at());
  Handle file = create_file(aside.at());
  for (const TableColumn& column : columns) {
    std::visit([&](const auto& values) { write_values(file.id(), column.name, values); },
               column.values);
  }
  file.close("close " + aside.at().string());
  aside.publish();
}

}  // namespace lie::h5
