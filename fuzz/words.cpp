// Any bytes as a text: it has word pieces, which give its words again where all are known. The
// first byte chooses whether capitals and accents count.
#include <algorithm>
#include <cstdlib>
#include <string>

#include "saltus/text/word_pieces.hpp"

namespace {

saltus::WordPieces pieces(bool lower_case) {
  std::vector<std::string> vocabulary = {"[PAD]", "[UNK]", "[CLS]", "[SEP]",  "[MASK]",
                                         "the",   "##ing", "##ed",  "\u03C3", "##\u03C2"};
  for (char c = '!'; c < 127; ++c) {
    vocabulary.push_back(std::string(1, c));
    vocabulary.push_back("##" + std::string(1, c));
  }
  return saltus::WordPieces(vocabulary, lower_case);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const saltus::WordPieces both[] = {pieces(false), pieces(true)};
  if (size == 0) return 0;
  const saltus::WordPieces& words = both[data[0] % 2];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::vector<std::int32_t> ids = words.encode(text);
  std::string joined;
  for (const std::string& word : words.words(text)) {
    if (word.empty()) std::abort();
    joined += (joined.empty() ? "" : " ") + word;
  }
  const bool unknown = std::find(ids.begin(), ids.end(), words.unknown()) != ids.end();
  if (!unknown && words.decode(ids) != joined) std::abort();
  return 0;
}
