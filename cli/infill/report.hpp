// What 'saltus infill' prints.
#pragma once

#include <nlohmann/json.hpp>

#include "cli/infill/sentence.hpp"
#include "saltus/infill.hpp"

namespace saltus::cli {

struct InfillCommand {
  std::string model;  // a folder; empty: the model that comes with the program
  DeviceChoice device;
  InfillRequest request;  // without the text
  int top = 5;
  bool all = false, json = false;

  std::vector<GappedText> sentences;
  bool from_file = false;
  std::vector<std::string> score;  // words for the gaps; empty: sample
};

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
