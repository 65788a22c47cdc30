// The published files themselves, in the folder SALTUS_DATA; tests of them are skipped without it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "reproduce/data/data_folder.hpp"
#include "saltus/core/error.hpp"

namespace saltus {

class RealData : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = data_folder("");
    if (folder_.empty()) GTEST_SKIP() << "SALTUS_DATA names no folder with data sets";
  }
  // The test must return when IsSkipped() afterwards.
  void need(const std::string& set) {
    try {
      need_data(set, folder_);
    } catch (const FileError& error) {
      GTEST_SKIP() << error.what();
    }
  }
  std::filesystem::path folder_;
};

}  // namespace saltus
