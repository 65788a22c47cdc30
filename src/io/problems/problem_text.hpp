// Text files of problems, read a block at a time: lines of words, words of numbers. All text
// formats share its rules: blanks are spaces, tabs and CR; the last line need not end; a byte 0 is
// refused.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/bytes/byte_source.hpp"

namespace saltus {

// The beginning of a file, without a byte order mark; for telling formats apart.
std::string beginning_of(const ByteSource& source, std::size_t most);

class ProblemText {
 public:
  // The source must outlive it.
  explicit ProblemText(const ByteSource& source);

  // Goes to the next line that is not empty; false at the end of the file. Throws DataError for a
  // byte 0.
  bool next_line();
  std::string_view line() const { return line_; }  // without the blanks around it
  // The words of the line, until the next one is read.
  std::span<const std::string_view> words();
  std::size_t line_number() const { return line_number_; }
  void set_line_number(std::size_t line) { line_number_ = line; }  // for messages

  // Goes to the next word, whatever lines there are; false at the end. Lines that begin with
  // `comment` are skipped.
  bool next_word(char comment);
  // The next word is then the first of the present line.
  void begin_words_here() { rest_ = line_; }
  std::string_view word() const { return word_; }

  // The number that a word is: [+-]?digits; throws DataError unless it is in the range. `what` says
  // whose it is: "the vertex".
  std::int64_t whole(std::string_view word, const char* what, std::int64_t low,
                     std::int64_t high) const;
  // A finite number in decimal notation; one that is too small for a double is 0.
  double number(std::string_view word, const char* what) const;

  // How many more lines the file has, judged by the length of those before; not less than they
  // need.
  std::size_t lines_left() const;
  // Entries of which each takes so many bytes at least: no more than announced, and no more than
  // the file has room for.
  std::size_t room_for(std::uint64_t announced, std::size_t least_bytes) const;

  // Throw DataError: "FILE: line K: WHY", "FILE: WHY".
  [[noreturn]] void refuse(const std::string& why) const;
  [[noreturn]] void refuse_file(const std::string& why) const;

 private:
  bool fill();  // reads on; false where the file has no more

  const ByteSource& source_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, end_ = 0;  // of what is not used yet
  std::uint64_t read_ = 0;        // bytes of the file
  std::string_view line_, rest_, word_;
  std::vector<std::string_view> words_;
  std::size_t line_number_ = 0;
};

// [+-]?digits, or a number in decimal notation, and nothing else; false where it is not that.
bool whole_in(std::string_view word, std::int64_t& value);
bool number_in_decimals(std::string_view word, double& value);
// As a word of a message: short, and without bytes that a terminal would obey.
std::string in_quotes(std::string_view word);

// The lines of the entries of a list, in little memory as long as they follow one another.
class EntryLines {
 public:
  void add(std::size_t line) {
    if (runs_.empty() || line != runs_.back().line + (count_ - runs_.back().entry)) {
      runs_.push_back({count_, line});
    }
    ++count_;
  }
  std::size_t line_of(std::size_t entry) const;

 private:
  struct Run {
    std::size_t entry, line;
  };
  std::vector<Run> runs_;
  std::size_t count_ = 0;
};

}  // namespace saltus
