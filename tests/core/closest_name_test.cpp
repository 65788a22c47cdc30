#include "core/closest_name.hpp"

#include <gtest/gtest.h>

namespace saltus {
namespace {

const std::vector<std::string> kNames = {"dmala", "dula", "gibbs", "hamming_ball", "step_size"};

TEST(ClosestName, FindsWhatWasMistyped) {
  for (const auto& [word, name] : {std::pair{"dmla", "dmala"},
                                   {"dmala", "dmala"},
                                   {"dmaal", "dmala"},  // two letters swapped count once
                                   {"gibs", "gibbs"},
                                   {"giibbs", "gibbs"},
                                   {"haming_bal", "hamming_ball"},
                                   {"stepsize", "step_size"},
                                   {"step", "step_size"}}) {
    EXPECT_EQ(closest_name(word, kNames), name) << word;
  }
}

TEST(ClosestName, FindsNothingWhereNothingIsClose) {
  for (const std::string& word : {std::string(), std::string("x"), std::string("st"),
                                  std::string("nonsense"), std::string(1'000'000, 'd')}) {
    EXPECT_EQ(closest_name(word, kNames), "") << word.substr(0, 20);
  }
  EXPECT_EQ(closest_name("dmala", {}), "");
}

TEST(ClosestName, AsksInWords) {
  EXPECT_EQ(did_you_mean("dmla", kNames), ". Did you mean dmala?");
  EXPECT_EQ(did_you_mean("nonsense", kNames), "");
}

}  // namespace
}  // namespace saltus
