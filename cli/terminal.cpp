#include "cli/terminal.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>

#include "core/printable.hpp"

namespace saltus::cli {
namespace {

constexpr const char* kEraseLine = "\r\033[K";

void write_error(const std::string& text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
  std::clearerr(stderr);
}

void write_output(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) throw OutputError();
}

// As the JSON library writes a number: the digits that restore it, marked as not whole.
std::string number_text(double v) {
  if (!std::isfinite(v)) return "null";
  std::string text = fmt::format("{}", v);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

void write_list(const LongList& list) {
  write_output("[");
  for (std::size_t i = 0; i < list.numbers.size(); ++i) {
    const double v = list.numbers[i];
    write_output((i ? ", " : "") + (list.whole ? fmt::format("{:.0f}", v) : number_text(v)));
  }
  write_output("]");
}

}  // namespace

OutputError::OutputError()
    : std::runtime_error("cannot write to the standard output"), reader_gone(errno == EPIPE) {}

void open_standard_streams() {
  std::signal(SIGPIPE, SIG_IGN);
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    // The lowest free number, which is this one.
    static_cast<void>(::open("/dev/null", fd == STDIN_FILENO ? O_RDONLY : O_WRONLY));
  }
}

void say_text(const std::string& text) noexcept {
  try {
    write_error(printable(text, true));
  } catch (...) {  // no memory for a message
  }
}

TerminalSize terminal_size() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2) return {};
  return {size.ws_col, size.ws_row > 1 ? size.ws_row : TerminalSize().height};
}

// The cursor is never hidden and no mode is changed: a run that is killed leaves the terminal as it
// was.
void say_block(const std::vector<std::string>& lines) noexcept {
  static std::size_t above = 0;  // lines of the last block over the one with the cursor
  try {
    std::string text = "\r";
    if (above > 0) text += fmt::format("\033[{}A", above);
    text += "\033[J";
    const TerminalSize size = terminal_size();
    const std::size_t count = std::min(lines.size(), size.height - 1);
    for (std::size_t k = 0; k < count; ++k) {
      text += (k > 0 ? "\n" : "") + printable(lines[k]).substr(0, size.width - 1);
    }
    above = count > 0 ? count - 1 : 0;
    write_error(text);
  } catch (...) {
  }
}

void say_over(const std::string& line) noexcept {
  try {  // never onto a new line
    write_error(kEraseLine + printable(line).substr(0, terminal_size().width - 1));
  } catch (...) {
  }
}

void show_text(const std::string& text) {
  write_output(printable(text, true));
}

void show_marked(const std::string& text) {
  write_output(text);
}

std::string long_list(const std::string& name) {
  return "\x01" + name;
}

void show_json(const nlohmann::ordered_json& json, const LongLists& lists, int indent) {
  std::string text = printable_json(
      json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  std::string_view rest = text;
  while (!rest.empty()) {
    constexpr std::string_view mark = "\"\\u0001";
    const std::size_t at = std::min(rest.find(mark), rest.size());
    write_output(rest.substr(0, at));
    rest.remove_prefix(at);
    if (rest.empty()) break;
    const std::size_t end = rest.find('"', mark.size());
    const auto list = lists.find(std::string(rest.substr(mark.size(), end - mark.size())));
    if (list == lists.end()) {
      write_output(rest.substr(0, end + 1));
    } else {
      write_list(list->second);
    }
    rest.remove_prefix(end + 1);
  }
  write_output("\n");
}

}  // namespace saltus::cli
