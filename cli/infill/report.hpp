// What 'saltus infill' prints.
#pragma once

#include <nlohmann/json.hpp>

#include "cli/infill/options.hpp"
#include "saltus/infill.hpp"

namespace saltus::cli {

struct Infilled {
  const InfillCommand& command;
  const GappedText& sentence;
  const BertFiles& bert;
  const InfillResult& result;
};

void print_head(const Infilled& filled);
void print_completions(const Infilled& filled);
nlohmann::ordered_json infilled_json(const Infilled& filled);

void print_scored(const GappedText& sentence, const BertFiles& bert, const InfillScore& score);
nlohmann::ordered_json scored_json(const GappedText& sentence, const BertFiles& bert,
                                   const InfillScore& score);

}  // namespace saltus::cli
