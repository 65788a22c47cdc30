// Files of residual-network energies, which need no libtorch to be read and written.

#include <gtest/gtest.h>

#include <cmath>

#include "io/models/json_fields.hpp"
#include "io/models/weights_file.hpp"
#include "saltus/core/error.hpp"
#include "saltus/io/model_file.hpp"
#include "test_files.hpp"

namespace saltus {
namespace {

ResnetEnergy small() {
  return ResnetEnergy::random({4, 3, 2, 3, 1}, std::vector<double>(12, 0.25), 1);
}

ResnetEnergy read(const TestFolder& folder, const std::string& name,
                  const std::function<void(nlohmann::json&)>& change = {}) {
  nlohmann::json json = parse_strictly(content_of(folder / name), name);
  EXPECT_EQ(json["weights_file"], "net.weights.npz");
  json["weights_file"] = (folder / "net.weights.npz").string();
  if (change) change(json);
  JsonFields fields(json, name);
  EXPECT_EQ(fields.string("model"), "resnet-ebm");
  ResnetEnergy energy = read_resnet(fields);
  fields.finish();
  return energy;
}

TEST(ResnetFile, RestoresEveryBit) {
  const TestFolder folder;
  const ResnetEnergy energy = small();
  write_model(folder / "net.json", energy);
  EXPECT_EQ(folder.entries(), 2);
  const ResnetEnergy back = read(folder, "net.json");
  EXPECT_EQ(back.shape, energy.shape);
  EXPECT_EQ(back.parameters, energy.parameters);
  EXPECT_EQ(back.base_mean, energy.base_mean);
}

TEST(ResnetFile, ThatDoesNotFitIsRefused) {
  const TestFolder folder;
  write_model(folder / "net.json", small());
  struct Case {
    std::string field;
    int value;
    std::string words;
  };
  for (const Case& c :
       {Case{"channels", 3, "stem.weight has shape (2, 1, 3, 3); expected (3, "},
        Case{"blocks", 4, "no array 'block3.first.weight'"}, Case{"halvings", 4, "halvings"},
        Case{"halvings", 2, "block1.shortcut"},
        Case{"height", 5, "base_mean has shape (12); expected (15)"}, Case{"width", 0, "width"}}) {
    const std::string error =
        data_error([&] { read(folder, "net.json", [&](auto& j) { j[c.field] = c.value; }); });
    EXPECT_NE(error.find(c.words), std::string::npos) << error;
  }
  ResnetEnergy bad = small();
  bad.base_mean[3] = 1;
  EXPECT_THROW(write_model(folder / "net.json", bad), DataError);
  EXPECT_THROW(write_model(folder / "nowhere/net.json", small()), FileError);
}

}  // namespace
}  // namespace saltus
