// The language model in the binary is that of the source.
#include "saltus/text/bert_files.hpp"

#include <gtest/gtest.h>

namespace saltus {
namespace {

TEST(DefaultModel, IsInTheBinary) {
  const BertFiles built_in = default_bert();
  const BertFiles source = load_bert(SALTUS_SOURCE_FOLDER "/models/mlm-tiny");
  EXPECT_EQ(built_in.name, source.name);
  EXPECT_EQ(built_in.config.hidden, 192);
  ASSERT_EQ(built_in.pieces->size(), source.pieces->size());
  for (int id = 0; id < source.pieces->size(); ++id) {
    ASSERT_EQ(built_in.pieces->piece(id), source.pieces->piece(id));
  }
  ASSERT_EQ(built_in.arrays.size(), source.arrays.size());
  for (const auto& [name, array] : source.arrays) {
    EXPECT_EQ(built_in.arrays.at(name).values, array.values) << name;
  }
}

}  // namespace
}  // namespace saltus
