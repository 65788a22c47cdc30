#include "saltus/text/word_pieces.hpp"

#include <algorithm>
#include <array>

#include "core/printable.hpp"
#include "io/bytes/gzip.hpp"
#include "io/bytes/words.hpp"
#include "saltus/core/error.hpp"
#include "text/unicode.hpp"

namespace saltus {
namespace {

constexpr std::size_t kLongestWord = 100;  // in code points; longer ones are [UNK]
constexpr std::array<std::string_view, 5> kSpecial = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// The first special piece in `text` and its place; the place is npos when there is none.
std::pair<std::size_t, std::string_view> find_special(std::string_view text) {
  for (std::size_t at = text.find('['); at != text.npos; at = text.find('[', at + 1)) {
    for (const std::string_view piece : kSpecial) {
      if (text.substr(at).starts_with(piece)) return {at, piece};
    }
  }
  return {text.npos, {}};
}

// Ends the word in `from`, which is split around its punctuation.
void take_word(std::u32string& from, bool lower_case, std::vector<std::string>& words) {
  if (lower_case) {
    make_lower_case(from);
    remove_accents(from);
  }
  bool go_on = false;  // the last word
  for (const char32_t c : from) {
    const bool alone = char_class(c) & kPunctuation;
    if (alone || !go_on) words.emplace_back();
    append_utf8(c, words.back());
    go_on = !alone;
  }
  from.clear();
}

// Appends the words of `text`, as BasicTokenizer of the published BERT (tokenization.py) and of
// Hugging Face make them: control characters removed, words split at blanks and around CJK
// ideographs, lower-cased without accents if asked for, then split around punctuation. Bytes that
// are not UTF-8 are removed.
void append_basic_words(std::string_view text, bool lower_case, std::vector<std::string>& words) {
  std::u32string word;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    const std::uint8_t kind = char_class(c);
    if (kind & kRemoved) continue;
    if (kind & kBlank) {
      take_word(word, lower_case, words);
    } else if (is_cjk(c)) {
      take_word(word, lower_case, words);
      word += c;
      take_word(word, lower_case, words);
    } else {
      word += c;
    }
  }
  take_word(word, lower_case, words);
}

}  // namespace

WordPieces::WordPieces(std::vector<std::string> vocabulary, bool lower_case)
    : pieces_(std::move(vocabulary)), lower_case_(lower_case) {
  if (pieces_.size() > INT32_MAX) throw DataError("the vocabulary has too many pieces");
  ids_.reserve(pieces_.size());
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (!ids_.emplace(pieces_[i], static_cast<std::int32_t>(i)).second) {
      throw DataError("the vocabulary has the piece '" + pieces_[i] + "' twice, on the lines " +
                      std::to_string(id(pieces_[i]) + 1) + " and " + std::to_string(i + 1));
    }
    longest_ = std::max(longest_, pieces_[i].size());
  }
  for (const std::string_view piece : kSpecial) {
    if (id(piece) < 0) throw DataError("the vocabulary has no piece " + std::string(piece));
  }
  unknown_ = id("[UNK]");
  begin_ = id("[CLS]");
  end_ = id("[SEP]");
  mask_ = id("[MASK]");
}

WordPieces WordPieces::parse(std::string_view text, const std::string& source, bool lower_case) {
  try {
    return WordPieces(lines_of(text), lower_case);
  } catch (const DataError& error) {
    throw DataError(source + ": " + error.what());
  }
}

WordPieces WordPieces::load(const std::filesystem::path& vocabulary, bool lower_case) {
  return parse(read_text(vocabulary), vocabulary.string(), lower_case);
}

std::int32_t WordPieces::id(std::string_view piece) const {
  const auto found = ids_.find(piece);
  return found == ids_.end() ? -1 : found->second;
}

std::vector<std::string> WordPieces::words(std::string_view text) const {
  std::vector<std::string> out;
  while (true) {
    const auto [at, piece] = find_special(text);
    append_basic_words(text.substr(0, at), lower_case_, out);
    if (at == text.npos) return out;
    out.emplace_back(piece);
    text.remove_prefix(at + piece.size());
  }
}

// Greedily the longest piece from the left; a word of which a part has no piece is unknown.
void WordPieces::append_pieces(std::string rest, std::vector<std::int32_t>& ids) const {
  const std::size_t before = ids.size();
  bool known = rest.size() <= kLongestWord || code_points(rest) <= kLongestWord;
  for (std::size_t prefix = 0; known && rest.size() > prefix; prefix = kContinuation.size()) {
    std::size_t size = std::min(rest.size(), longest_);
    std::int32_t next = -1;
    while (size > prefix && (next = id(std::string_view(rest).substr(0, size))) < 0) --size;
    known = next >= 0;
    ids.push_back(next);
    rest.replace(0, size, kContinuation);
  }
  if (!known) {
    ids.resize(before);
    ids.push_back(unknown_);
  }
}

std::vector<std::int32_t> WordPieces::encode(std::string_view text) const {
  std::vector<std::int32_t> ids;
  for (std::string& word : words(text)) append_pieces(std::move(word), ids);
  return ids;
}

std::string WordPieces::decode(std::span<const std::int32_t> ids) const {
  std::string text;
  for (const std::int32_t id : ids) {
    const bool joined = continues(id) && !text.empty();
    if (!joined && !text.empty()) text += ' ';
    text += std::string_view(piece(id)).substr(joined ? kContinuation.size() : 0);
  }
  return text;
}

}  // namespace saltus
