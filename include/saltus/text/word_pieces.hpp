// BERT's word pieces: Devlin, Chang, Lee & Toutanova, "BERT", NAACL 2019. Text is split at blanks
// and punctuation (lower-cased, accents removed, CJK characters on their own), then each word into
// the longest pieces of the vocabulary, from the left; pieces that go on a word begin with "##".
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace saltus {

class WordPieces {
 public:
  // One piece a line, in the order of their ids. Throws DataError when a special piece ([PAD],
  // [UNK], [CLS], [SEP], [MASK]) is missing, or a piece is there twice.
  explicit WordPieces(std::vector<std::string> vocabulary, bool lower_case = true);
  static WordPieces load(const std::filesystem::path& vocabulary, bool lower_case = true);

  int size() const { return static_cast<int>(pieces_.size()); }
  const std::string& piece(std::int32_t id) const { return pieces_[static_cast<std::size_t>(id)]; }
  std::int32_t id(std::string_view piece) const;  // -1: there is none

  std::int32_t unknown() const { return unknown_; }
  std::int32_t begin() const { return begin_; }  // [CLS]
  std::int32_t end() const { return end_; }      // [SEP]
  std::int32_t mask() const { return mask_; }
  bool special(std::int32_t id) const;    // in brackets, [unused7] too
  bool continues(std::int32_t id) const;  // "##..."

  // The ids of a text, without [CLS] and [SEP]. The special pieces stand for themselves.
  std::vector<std::int32_t> encode(std::string_view text) const;
  // Words separated by blanks, "##" joined.
  std::string decode(std::span<const std::int32_t> ids) const;

 private:
  std::vector<std::string> pieces_;
  std::unordered_map<std::string, std::int32_t> ids_;
  bool lower_case_;
  std::int32_t unknown_, begin_, end_, mask_;
};

}  // namespace saltus
