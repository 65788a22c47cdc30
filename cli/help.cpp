#include "cli/help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <sstream>

namespace saltus::cli {
namespace {

constexpr std::size_t kColumn = 28, kWidth = 80;
constexpr std::size_t kMostWithoutTopics = 10;

constexpr const char *kOwnTopic = "Options", *kTempering = "Tempering";

// Options that commands share, by topic, in the order in which topics are shown. What is not listed
// belongs to the command's own subject.
struct Topic {
  const char* title;
  std::vector<std::string> options;
};

const std::vector<Topic>& topics() {
  static const std::vector<Topic> list = {
      {"Model",
       {"domain", "dim", "levels", "device", "precision", "no-scripts", "format", "beta",
        "maximise", "vartype", "problem", "penalty", "colours", "parts", "hard", "given",
        "constrain"}},
      {kTempering, {"temper", "base", "betas"}},
      {"Results",
       {"out", "json", "record", "observe", "strict", "no-probe", "watch", "out-per-rank"}},
      {"Stopping and going on", {"checkpoint", "checkpoint-every", "resume", "overwrite", "time"}},
  };
  return list;
}

std::string topic_of(const CLI::Option& option, bool tempers) {
  for (const Topic& topic : topics()) {
    if (topic.title == kTempering && !tempers) continue;
    for (const std::string& name : option.get_lnames()) {
      if (std::ranges::find(topic.options, name) != topic.options.end()) return topic.title;
    }
  }
  return kOwnTopic;
}

// Lines that begin in the column; `first` is what stands before it.
std::string columns(const std::string& first, const std::string& text) {
  std::string out = "  " + first, line;
  out += first.size() + 4 > kColumn ? "\n" + std::string(kColumn, ' ')
                                    : std::string(kColumn - 2 - first.size(), ' ');
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!line.empty() && kColumn + line.size() + 1 + word.size() > kWidth) {
      out += line + "\n" + std::string(kColumn, ' ');
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return out + line + "\n";
}

class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
    for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;)
      text.erase(at, 1);
    return text;
  }

  std::string make_option(const CLI::Option* option, bool positional) const override {
    std::string name = positional ? option->get_name(true, false) : option->get_name(false, true);
    if (const std::size_t brace = name.find('{'); brace != std::string::npos) name.resize(brace);
    std::ranges::replace(name, ',', ' ');  // "-h --help"
    if (option->get_type_size() != 0 && !positional) {
      name += " " + readable_type(option->get_type_name());
    }
    std::string text = option->get_description();
    if (const std::string value = option->get_default_str(); !value.empty()) {
      text += " (default " + value + ")";
    }
    if (option->get_required() && !positional) text += " (required)";
    return columns(name, text);
  }

  std::string make_subcommand(const CLI::App* command) const override {
    return columns(command->get_name(), command->get_description());
  }
};

const std::map<std::string, std::vector<std::string>>& all_examples() {
  static const std::map<std::string, std::vector<std::string>> list = {
      {"saltus", {"saltus sample", "saltus sample ising --out draws.npz"}},
      {"sample",
       {"saltus sample ising --seed 1 --out draws.nc",
        "saltus sample ising-100x100 --sampler gibbs --draws 200 --out big.npz",
        "saltus sample ising --temper"}},
      {"compare", {"saltus compare ising --budget 0.2"}},
      {"verify", {"saltus verify ising-2x2 --sampler gwg"}},
      {"exact", {"saltus exact ising-lattice", "saltus exact potts --json"}},
      {"certify", {"saltus certify ising-lattice --pairs 200"}},
      {"logz", {"saltus logz ising --betas 2000"}},
      {"anneal", {"saltus anneal ising --restarts 50 --out best.json"}},
      {"diagnose", {"saltus sample ising --out draws.npz", "saltus diagnose draws.npz"}},
      {"report",
       {"saltus sample ising --out draws.npz", "saltus report draws.npz --out page.html"}},
      {"learn rbm",
       {"saltus sample rbm --out data.npz",
        "saltus learn rbm --data data.npz --hidden 4 --out model.json"}},
      {"learn ising",
       {"saltus sample ising --out data.npz",
        "saltus learn ising --data data.npz --iterations 500 --out model.json"}},
      {"infill", {R"(saltus infill "the [MASK] sat by the [MASK] .")"}},
      {"convert", {"saltus convert potts mine.json"}},
      {"generate er",
       {"saltus generate er 200 0.05 graph.col --seed 1",
        "saltus anneal graph.col --problem mis --steps 100"}},
      {"generate ba", {"saltus generate ba 200 4 graph.mc", "saltus anneal graph.mc --steps 100"}},
      {"generate regular", {"saltus generate regular 50 3 graph.mc --weights pm"}},
      {"generate sk", {"saltus generate sk 64 glass.coo --weights gaussian"}},
      {"generate lattice", {"saltus generate lattice 8 glass.mc --dimensions 3"}},
      {"generate sat", {"saltus generate sat 50 200 3 formula.cnf"}},
      {"tune",
       {"saltus tune ising --out tuning.json",
        "saltus sample ising --chains 32 --tuning tuning.json --part 1/2 --out a.npz"}},
      {"merge",
       {"saltus tune ising --out tuning.json",
        "saltus sample ising --chains 32 --tuning tuning.json --part 1/2 --out a.npz",
        "saltus sample ising --chains 32 --tuning tuning.json --part 2/2 --out b.npz",
        "saltus merge a.npz b.npz --out all.npz"}},
      {"reproduce", {"saltus reproduce theory --quick"}},
      {"models", {"saltus models"}},
      {"samplers", {"saltus samplers"}},
  };
  return list;
}

std::string footer_of(const std::string& command) {
  const std::vector<std::string> examples = examples_of(command);
  if (examples.empty()) return "";
  std::string text = examples.size() == 1 ? "Example:" : "Examples:";
  for (const std::string& line : examples) text += "\n  " + line;
  if (command == "saltus") text += "\n\nRun 'saltus COMMAND --help' for a command's options.";
  return text;
}

void arrange(CLI::App& command, const std::string& name) {
  command.formatter(std::make_shared<HelpFormatter>());
  command.set_help_flag();
  const std::vector<CLI::Option*> options = command.get_options();
  const bool by_topic = options.size() > kMostWithoutTopics;
  const bool tempers = command.get_option_no_throw("--temper") != nullptr;
  for (CLI::Option* option : options) {
    option->group(by_topic ? topic_of(*option, tempers) : kOwnTopic);
  }
  command.set_help_flag("-h,--help", "Print this text and end")->group("Help");
  for (CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; })) {
    arrange(*sub, command.get_parent() ? name + " " + sub->get_name() : sub->get_name());
  }
  command.footer(footer_of(name));
}

}  // namespace

std::vector<std::string> examples_of(const std::string& command) {
  const auto found = all_examples().find(command);
  return found == all_examples().end() ? std::vector<std::string>() : found->second;
}

std::string readable_type(const std::string& type) {
  static const std::map<std::string, std::string> plain = {
      {"INT", "N"}, {"UINT", "N"}, {"FLOAT", "X"}, {"TEXT", "NAME"}};
  const std::size_t colon = type.find(':');
  std::string name = type.substr(0, colon);
  if (const auto found = plain.find(name); found != plain.end()) return found->second;
  if (!name.empty() || colon == std::string::npos) return name;
  std::string choices = type.substr(colon + 1);
  std::erase_if(choices, [](char c) { return c == '{' || c == '}'; });
  std::ranges::replace(choices, ',', '|');
  return choices;
}

void arrange_help(CLI::App& program) {
  arrange(program, "saltus");
}

}  // namespace saltus::cli
