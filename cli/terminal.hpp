// What the program prints. Everything goes through here, so that text from files cannot steer a
// terminal and a standard error that is closed or full cannot end a run.
#pragma once

#include <fmt/core.h>

#include <string>
#include <utility>
#include <vector>

#include "service/result_json.hpp"

namespace saltus::cli {

// To be called first. A pipe without a reader gives an error instead of ending the program: what
// ends a message must not end a run.
// Opens /dev/null in the place of a standard stream that the caller closed: otherwise the first
// file that the program opens would take its number, and messages would land in it.
void open_standard_streams();

// To standard error. What cannot be written is dropped.
void say_text(const std::string& text) noexcept;
// A line on the terminal that standard error is, over the one before it; empty: none.
void say_over(const std::string& line) noexcept;
// Lines on that terminal, over the lines that the last call has put there; none: takes them away.
void say_block(const std::vector<std::string>& lines) noexcept;
// Columns and rows of the terminal that standard error is.
struct TerminalSize {
  std::size_t width = 80, height = 24;
};
TerminalSize terminal_size();
// To standard output. Throws OutputError when it cannot be written.
void show_text(const std::string& text);
// The same with marks that the caller put around text that it has made printable.
void show_marked(const std::string& text);

struct OutputError : std::runtime_error {
  OutputError();
  bool reader_gone;  // a pipe into a program that has ended, as in 'saltus sample | head'
};

// Ends the program with a status, a sentence and, in lines of their own, what the user can do.
struct EndError : std::runtime_error {
  EndError(int exit_status, const std::string& why, std::string what_to_do)
      : std::runtime_error(why), status(exit_status), advice(std::move(what_to_do)) {}
  int status;
  std::string advice;
};

template <class... T>
void say(fmt::format_string<T...> format, T&&... values) {
  say_text(fmt::format(format, std::forward<T>(values)...));
}
template <class... T>
void show(fmt::format_string<T...> format, T&&... values) {
  show_text(fmt::format(format, std::forward<T>(values)...));
}

// A line of a summary: a name in a column of `width` characters, and what there is to say.
inline void show_row(const std::string& name, const std::string& value, int width = 12) {
  show("{:<{}} {}\n", name, width, value);
}

// JSON on standard output, with its long lists (write_json).
void show_json(const OrderedJson& json, const LongLists& lists = {}, int indent = 2);

}  // namespace saltus::cli
