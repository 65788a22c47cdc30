#include "reproduce/text/measures.hpp"

#include <algorithm>

#include "reproduce/data/data_folder.hpp"
#include "saltus/text/corpus.hpp"

namespace saltus::reproduce::text {
namespace {

struct Part {
  const char* file;
  Corpus kind;
};
constexpr Part kTbc{"tbc.5k.txt", Corpus::tbc}, kWt103{"wiki103.5k.txt", Corpus::wiki103};

void load(const Part& part, const std::filesystem::path& folder, std::vector<Words>& plain,
          std::vector<Words>& reference) {
  const std::vector<std::string> lines = read_lines(find_data_file("text", part.file, folder));
  for (const std::string& line : lines) {
    plain.push_back(split_words(plain_sentence(line, part.kind)));
  }
  reference = reference_sentences(lines, part.kind);
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
  load(kTbc, folder, corpora.tbc, corpora.tbc_reference);
  load(kWt103, folder, corpora.wt103, corpora.wt103_reference);
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
  Measures m;
  m.self_bleu = self_bleu(generated).bleu;
  m.unique_self_2 = unique_ngrams(generated, 2), m.unique_self_3 = unique_ngrams(generated, 3);
  m.unique_wt103_2 = unique_ngrams(generated, 2, wt103);
  m.unique_wt103_3 = unique_ngrams(generated, 3, wt103);
  m.unique_tbc_2 = unique_ngrams(generated, 2, tbc);
  m.unique_tbc_3 = unique_ngrams(generated, 3, tbc);
  m.bleu = BleuReferences(both).score(generated).bleu;
  for (const Measure& measure : kMeasures) m.*measure.of *= 100;
  return m;
}

}  // namespace saltus::reproduce::text
