#include "reproduce/kept_cells.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace saltus::reproduce {
namespace {

TEST(Ledger, AddsUpCallsThatComputed) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "saltus-ledger";
  std::filesystem::remove_all(folder);
  EXPECT_EQ(last_change(folder), std::filesystem::file_time_type::min());
  std::filesystem::create_directories(folder / "part");
  Ledger ledger = add_to_ledger(folder, "here", 1, false);
  EXPECT_EQ(ledger.machine(), "here");
  EXPECT_EQ(ledger.seconds, 0);
  add_to_ledger(folder, "there", 2, true);
  add_to_ledger(folder, "there", 3, true);
  const auto before = last_change(folder);
  std::ofstream(folder / "part" / "cell.json") << "{}";
  EXPECT_GT(last_change(folder), before);
  ledger = add_to_ledger(folder, "here", 7, false);
  EXPECT_EQ(ledger.machine(), "there");
  EXPECT_EQ(ledger.seconds, 5);
  ledger = add_to_ledger(folder, "here", 7, true);
  EXPECT_EQ(ledger.machine(), "there; here");
  EXPECT_EQ(ledger.seconds, 12);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace saltus::reproduce
