#include "reproduce/text/measures.hpp"

#include <map>
#include <utility>

#include "reproduce/data/data_folder.hpp"
#include "saltus/text/corpus.hpp"

namespace saltus::reproduce::text {
namespace {

void load(const std::filesystem::path& file, Corpus kind, std::vector<Words>& plain,
          std::vector<Words>& reference) {
  const std::vector<std::string> lines = read_lines(file);
  for (const std::string& line : lines) plain.push_back(split_words(plain_sentence(line, kind)));
  reference = reference_sentences(lines, kind);
}

std::vector<Words> without(const std::vector<Words>& sentences, const std::string& corpus,
                           const std::vector<Task>& tasks) {
  std::vector<bool> left_out(sentences.size());
  for (const Task& task : tasks) {
    if (task.corpus == corpus) left_out[task.line] = true;
  }
  std::vector<Words> rest;
  for (std::size_t line = 0; line < sentences.size(); ++line) {
    if (!left_out[line]) rest.push_back(sentences[line]);
  }
  return rest;
}

// Lower-case letters; rare words of a corpus are [UNK].
std::string as_in_references(const std::string& word) {
  return word == "[UNK]" ? word : reference_words(word, Corpus::plain).at(0);
}

}  // namespace

Corpora load_corpora(const std::filesystem::path& folder) {
  Corpora corpora;
  load(find_data_file("text", "tbc.5k.txt", folder), Corpus::tbc, corpora.tbc,
       corpora.tbc_reference);
  load(find_data_file("text", "wiki103.5k.txt", folder), Corpus::wiki103, corpora.wt103,
       corpora.wt103_reference);
  return corpora;
}

Measures measure(const Corpora& corpora, const std::vector<Task>& tasks,
                 std::vector<Words> generated) {
  for (Words& sentence : generated) {
    for (std::string& word : sentence) word = as_in_references(word);
  }
  const std::vector<Words> tbc = without(corpora.tbc_reference, "TBC", tasks);
  const std::vector<Words> wt103 = without(corpora.wt103_reference, "WT103", tasks);
  std::vector<Words> both = tbc;
  both.insert(both.end(), wt103.begin(), wt103.end());
  const auto unique = [&](int n, const std::vector<Words>& corpus) {
    return unique_ngrams(generated, n, corpus);
  };
  Measures m{self_bleu(generated).bleu,
             unique_ngrams(generated, 2),
             unique_ngrams(generated, 3),
             unique(2, wt103),
             unique(3, wt103),
             unique(2, tbc),
             unique(3, tbc),
             BleuReferences(both).score(generated).bleu};
  for (const Measure& measure : kMeasures) m.*measure.of *= 100;
  return m;
}

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
