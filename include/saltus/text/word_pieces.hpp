// BERT's word pieces: Devlin, Chang, Lee & Toutanova, "BERT", NAACL 2019. Text is split at blanks
// and punctuation (lower-cased, accents removed, CJK characters on their own), then each word into
// the longest pieces of the vocabulary, from the left; pieces that go on a word begin with "##". A
// word of more than 100 characters, or with a part that has no piece, is [UNK].
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace saltus {

class WordPieces {
 public:
  // In the order of their ids. Throws DataError when a special piece ([PAD], [UNK], [CLS], [SEP],
  // [MASK]) is missing, or a piece is there twice.
  explicit WordPieces(std::vector<std::string> vocabulary, bool lower_case = true);
  // vocab.txt: one piece a line, in the order of their ids. Throw FileError, and DataError naming
  // the source.
  static WordPieces parse(std::string_view text, const std::string& source, bool lower_case = true);
  static WordPieces load(const std::filesystem::path& vocabulary, bool lower_case = true);

  int size() const { return static_cast<int>(pieces_.size()); }
  const std::string& piece(std::int32_t id) const { return pieces_[static_cast<std::size_t>(id)]; }
  std::int32_t id(std::string_view piece) const;  // -1: there is none

  std::int32_t unknown() const { return unknown_; }
  std::int32_t begin() const { return begin_; }  // [CLS]
  std::int32_t end() const { return end_; }      // [SEP]
  std::int32_t mask() const { return mask_; }
  // In brackets: [CLS], [unused7], ...
  bool special(std::int32_t id) const {
    return piece(id).size() > 2 && piece(id).starts_with('[') && piece(id).ends_with(']');
  }
  // "##..."
  bool continues(std::int32_t id) const {
    return piece(id).size() > kContinuation.size() && piece(id).starts_with(kContinuation);
  }

  // The words that encode() divides into pieces. The five special pieces stand for themselves,
  // wherever they are in the text.
  std::vector<std::string> words(std::string_view text) const;
  // The ids of a text (UTF-8), without [CLS] and [SEP].
  std::vector<std::int32_t> encode(std::string_view text) const;
  // Words separated by blanks, "##" joined: words(text) again for the ids of a text, unless there
  // is [UNK] among them.
  std::string decode(std::span<const std::int32_t> ids) const;

 private:
  static constexpr std::string_view kContinuation = "##";
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };

  void append_pieces(std::string word, std::vector<std::int32_t>& ids) const;

  std::vector<std::string> pieces_;
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> ids_;
  std::size_t longest_ = 0;  // bytes of a piece
  bool lower_case_;
  std::int32_t unknown_, begin_, end_, mask_;
};

}  // namespace saltus
