#include "reproduce/kept_cells.hpp"

#include <fstream>

#include "io/bytes/byte_file.hpp"

namespace saltus::reproduce {

Json read_cell(const std::filesystem::path& file, const Json& key) {
  std::ifstream in(file);
  Json cell = Json::parse(in, nullptr, false);
  return cell.is_object() && cell.value("key", Json()) == key ? cell : Json();
}

void write_cell(const std::filesystem::path& file, const Json& key, Json cell) {
  cell["key"] = key;
  std::error_code failure;
  std::filesystem::create_directories(file.parent_path(), failure);
  replace_file(file, cell.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace saltus::reproduce
