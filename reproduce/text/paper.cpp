#include "reproduce/text/paper.hpp"

#include <map>
#include <utility>

namespace saltus::reproduce::text {

std::optional<Measures> published(PaperModel model, const std::string& sampler) {
  using enum PaperModel;
  static const std::map<std::pair<PaperModel, std::string>, Measures> table = {
      {{base, "Gibbs"}, {86.84, 10.98, 16.08, 18.57, 32.21, 21.22, 33.05, 23.82}},
      {{base, "GWG"}, {81.97, 15.12, 21.79, 22.76, 37.59, 24.72, 37.98, 22.84}},
      {{base, "DULA"}, {72.37, 23.33, 32.88, 27.74, 45.85, 30.02, 46.75, 21.82}},
      {{base, "DMALA"}, {72.59, 23.26, 32.64, 27.99, 45.77, 30.32, 46.49, 21.85}},
      {{large, "Gibbs"}, {88.78, 9.31, 13.74, 17.78, 30.50, 20.48, 31.23, 22.57}},
      {{large, "GWG"}, {86.50, 11.03, 16.13, 19.25, 33.20, 21.42, 33.54, 23.08}},
      {{large, "DULA"}, {77.96, 17.97, 26.64, 23.69, 41.30, 26.18, 42.14, 21.28}},
      {{large, "DMALA"}, {76.27, 19.83, 28.48, 25.38, 42.94, 27.87, 43.77, 21.73}},
  };
  const auto found = table.find({model, sampler});
  return found == table.end() ? std::nullopt : std::optional(found->second);
}

std::optional<PaperModel> paper_model(const BertConfig& c) {
  if (c.vocabulary != 30522) return std::nullopt;
  if (c.layers == 12 && c.hidden == 768 && c.heads == 12) return PaperModel::base;
  if (c.layers == 24 && c.hidden == 1024 && c.heads == 16) return PaperModel::large;
  return std::nullopt;
}

}  // namespace saltus::reproduce::text
