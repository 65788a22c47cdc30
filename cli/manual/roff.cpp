// Manual pages, in the macros of man(7).
#include <fmt/core.h>

#include <algorithm>

#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "cli/manual/pages.hpp"
#include "saltus/version.hpp"

namespace saltus::cli {
namespace {

struct StatusText {
  Status status;
  const char* text;
};
constexpr StatusText kStatuses[] = {
    {ok, "done"},
    {failed, "'saltus verify' found something wrong"},
    {warned, "with --strict: the result comes with warnings"},
    {usage, "wrong options"},
    {data, "data that does not fit: a model file, starting states, a checkpoint, draws"},
    {no_input, "a file that cannot be read"},
    {software, "an error inside saltus"},
    {no_memory, "not enough memory"},
    {cannot_create, "a file that cannot be written, or that another run is using"},
    {io_error, "standard output that cannot be written"}};

// Text that roff takes for itself: no escapes, no request at the start of a line.
std::string plain(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\\') {
      safe += "\\e";
    } else if (c == '-') {
      safe += "\\-";
    } else if (c == '\'') {
      safe += "\\(aq";
    } else if (c == '^') {
      safe += "\\(ha";
    } else if (c == '~') {
      safe += "\\(ti";
    } else if (c == '\n') {
      safe += ' ';
    } else {
      safe += c;
    }
  }
  return safe.starts_with('.') ? "\\&" + safe : safe;
}

std::string bold(const std::string& text) {
  return "\\fB" + plain(text) + "\\fR";
}
std::string slanted(const std::string& text) {
  return "\\fI" + plain(text) + "\\fR";
}

std::string option_text(const ManualOption& option) {
  std::string head;
  const bool argument = !option.longest_name().starts_with("-");
  for (const std::string& name : option.names) {
    head += (head.empty() ? "" : ", ") + (argument ? slanted(name) : bold(name));
  }
  if (!argument && !option.label.empty()) {
    head +=
        option.optional_value ? " [" + slanted(option.label) + "]" : " " + slanted(option.label);
  }
  std::string text = plain(option.text);
  if (!option.default_value.empty()) text += " (default: " + plain(option.default_value) + ")";
  if (!argument && option.required) text += " (required)";
  return ".TP\n" + head + "\n" + text + "\n";
}

std::string synopsis(const ManualPage& page) {
  std::string text = bold(page.name(" ")) + " [" + slanted("OPTIONS") + "]";
  if (!page.commands.empty()) text += " " + slanted("COMMAND");
  for (const ManualOption& argument : page.arguments) {
    const std::string name = slanted(argument.longest_name()) + (argument.repeatable ? "..." : "");
    text += argument.required ? " " + name : " [" + name + "]";
  }
  return text + "\n";
}

// Options of one topic together: the command's own first, help last.
std::vector<ManualOption> by_topic(std::vector<ManualOption> options) {
  std::vector<std::string> topics{"Options"};
  for (const ManualOption& option : options) {
    if (std::ranges::find(topics, option.topic) == topics.end()) topics.push_back(option.topic);
  }
  const auto place = [&](const ManualOption& option) {
    const bool help = option.longest_name() == "--help";
    return help ? topics.end() : std::ranges::find(topics, option.topic);
  };
  std::ranges::stable_sort(options, {}, place);
  return options;
}

std::string section(const std::string& title, const std::vector<ManualOption>& options) {
  if (options.empty()) return "";
  std::string text = ".SH " + title + "\n",
              topic = "Options";  // the command's own, without a heading
  for (const ManualOption& option : options) {
    if (option.topic != topic) text += ".SS " + plain(option.topic) + "\n";
    topic = option.topic;
    text += option_text(option);
  }
  return text;
}

std::string command_list(const ManualPage& page) {
  if (page.commands.empty()) return "";
  std::string text = ".SH COMMANDS\n";
  for (const ManualPage& command : page.commands) {
    text += fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", plain(command.name("-")), plain(command.text));
  }
  return text;
}

std::string examples(const ManualPage& page) {
  const auto lines = examples_of(page.path.size() == 1 ? page.path.front() : page.command());
  if (lines.empty()) return "";
  std::string text = ".SH EXAMPLES\n.nf\n";
  for (const std::string& line : lines) text += plain(line) + "\n";
  return text + ".fi\n";
}

std::string environment() {
  return ".SH ENVIRONMENT\n.TP\n\\fBSALTUS_DATA\\fR\nFolder of data sets, where \\fB\\-\\-data\\fR "
         "is not given.\n.TP\n\\fBSALTUS_LEVEL\\fR\nThe instruction set to use instead of the best "
         "one: scalar, baseline, avx2 or avx512. All but scalar give the same bits.\n";
}

std::string exit_statuses() {
  std::string text = ".SH EXIT STATUS\n";
  for (const auto& [status, meaning] : kStatuses) {
    text += fmt::format(".TP\n.B {}\n{}\n", static_cast<int>(status), plain(meaning));
  }
  return text + ".TP\n.B 128 + n\nstopped by signal n, after saving\n";
}

// Its parent and what is below it.
std::string see_also(const ManualPage& page) {
  std::vector<std::string> names;
  if (page.path.size() > 1) {
    names.push_back(joined({page.path.begin(), page.path.end() - 1}, "-"));
  }
  for (const ManualPage& command : page.commands) names.push_back(command.name("-"));
  std::string text = ".SH SEE ALSO\n";
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += fmt::format(".BR {} (1){}\n", plain(names[i]), i + 1 < names.size() ? "," : "");
  }
  return text;
}

}  // namespace

std::string roff(const ManualPage& page) {
  std::string name = page.name("-"), title = name;
  for (char& c : title) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  std::string text =
      fmt::format(".TH {} 1 \"\" \"saltus {}\" \"User Commands\"\n", plain(title), version());
  text += ".nh\n.ad l\n.SH NAME\n" + plain(name) + " \\- " + plain(page.text) + "\n";
  text += ".SH SYNOPSIS\n" + synopsis(page);
  if (page.path.size() == 1) {
    text +=
        ".SH DESCRIPTION\nsaltus draws from discrete distributions with many coordinates: spins, "
        "bits, Potts states, ordered levels, counts. Each command has a page of its own. Without "
        "a model, \\fBsaltus sample\\fR draws from a 5 x 5 Ising model.\n";
  }
  text += command_list(page) + section("ARGUMENTS", page.arguments);
  text += section("OPTIONS", by_topic(page.options));
  if (page.path.size() == 1) text += environment();
  return text + examples(page) + exit_statuses() + see_also(page);
}

}  // namespace saltus::cli
