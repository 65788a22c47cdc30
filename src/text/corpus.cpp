#include "saltus/text/corpus.hpp"

#include "core/printable.hpp"
#include "io/bytes/gzip.hpp"
#include "io/bytes/words.hpp"
#include "text/unicode.hpp"

namespace saltus {
namespace {

// Between words: what Unicode calls white space, and the separators of ASCII.
bool separates(char32_t c) {
  return (char_class(c) & kBlank) || c == 0x0B || c == 0x0C || (c >= 0x1C && c <= 0x1F) ||
         c == 0x85;
}

std::string lower_case(const std::string& word) {
  std::u32string letters;
  for (std::size_t at = 0; at < word.size();) letters += next_code_point(word, at);
  make_lower_case(letters);
  std::string out;
  for (const char32_t c : letters) append_utf8(c, out);
  return out;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

std::vector<std::string> read_lines(const std::filesystem::path& file) {
  return lines_of(read_text(file));
}

Sentence split_words(std::string_view line) {
  Sentence words;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t here = at;
    if (!separates(next_code_point(line, at))) continue;
    if (here > begin) words.emplace_back(line.substr(begin, here - begin));
    begin = at;
  }
  if (begin < line.size()) words.emplace_back(line.substr(begin));
  return words;
}

Sentence reference_words(std::string_view line, Corpus corpus) {
  Sentence words = split_words(line);
  for (std::string& word : words) {
    word = lower_case(word);
    if (corpus == Corpus::tbc && (word == "``" || word == "''")) word = "\"";
    if (corpus == Corpus::wiki103 && word == "@@unknown@@") word = "[UNK]";
  }
  return words;
}

std::vector<Sentence> reference_sentences(const std::vector<std::string>& lines, Corpus corpus) {
  std::vector<Sentence> sentences;
  for (const std::string& line : lines) sentences.push_back(reference_words(line, corpus));
  return sentences;
}

std::string plain_sentence(std::string_view line, Corpus corpus) {
  std::string text(line);
  if (corpus == Corpus::tbc) {
    replace_all(text, "``", "");
    replace_all(text, "''", "");
  } else if (corpus == Corpus::wiki103) {
    replace_all(text, "@@UNKNOWN@@", "[UNK]");
    replace_all(text, "@-@", "-");
  }
  std::string out;
  for (const std::string& word : split_words(text)) out += (out.empty() ? "" : " ") + word;
  return out;
}

}  // namespace saltus
