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

void show_json(const OrderedJson& json, const LongLists& lists, int indent) {
  write_json(json, lists, indent, write_output);
  write_output("\n");
}

}  // namespace saltus::cli
