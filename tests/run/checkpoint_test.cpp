#include "saltus/run/checkpoint.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

const std::filesystem::path kPath =
    testing::TempDir() + "saltus_checkpoint_test." + std::to_string(::getpid());

TEST(CheckpointTest, RoundTrip) {
  const std::vector<std::byte> state = {std::byte{1}, std::byte{0}, std::byte{255}};
  write_checkpoint(kPath, "what is run", state);
  write_checkpoint(kPath, "what is run now", state);  // replaces
  const Checkpoint c = read_checkpoint(kPath);
  EXPECT_EQ(c.description, "what is run now");
  EXPECT_EQ(c.state, state);
  EXPECT_FALSE(std::filesystem::exists(kPath.string() + ".new"));
}

TEST(CheckpointTest, EveryDamagedByteAndEveryCutIsNoticed) {
  write_checkpoint(kPath, "description", std::vector<std::byte>(40, std::byte{7}));
  std::ifstream in(kPath, std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(in), {}};
  const auto refused = [&](const std::string& content) {
    std::ofstream(kPath, std::ios::binary) << content;
    EXPECT_THROW(read_checkpoint(kPath), DataError);
  };
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x20);
    refused(bad);
    refused(good.substr(0, i));
  }
  refused(good + "x");
}

TEST(CheckpointTest, MissingFileAndUnwritableFolder) {
  EXPECT_THROW(read_checkpoint(testing::TempDir() + "no_such_checkpoint"), FileError);
  EXPECT_THROW(read_checkpoint(testing::TempDir()), FileError);
  EXPECT_THROW(write_checkpoint(testing::TempDir() + "no_such_folder/file", "", {}), FileError);
}

}  // namespace
}  // namespace saltus
