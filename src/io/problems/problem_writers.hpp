// What the writers of problem files share: the way to refuse a model, and to leave out what the
// user allows.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "io/bytes/byte_file.hpp"
#include "saltus/io/model_file.hpp"

namespace saltus {

class LeavingOut {
 public:
  LeavingOut(std::filesystem::path path, const ProblemWriting& writing)
      : path_(std::move(path)), writing_(writing) {}

  // Throws DataError: "FILE: WHY".
  [[noreturn]] void refuse(const std::string& why) const;
  // Refuse, unless the user allows to leave it out.
  void constant(double energy);
  void coordinates(Labels& labels);
  void levels(Labels& labels);
  void all_names(Labels& labels) {
    coordinates(labels);
    levels(labels);
  }
  // In sentences.
  const std::vector<std::string>& done() const { return done_; }

 private:
  std::filesystem::path path_;
  const ProblemWriting& writing_;
  std::vector<std::string> done_;
};

constexpr double kSumRounding = 1e-13;  // of sums, relative to the size of their terms

// E = -log p of a factor graph.
void write_uai(const FactorsModel& graph, LeavingOut& leaving, OutputFile& file);
void write_wcnf(const FactorsModel& graph, LeavingOut& leaving, OutputFile& file);

}  // namespace saltus
