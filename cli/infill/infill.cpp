// saltus infill: words for the gaps of a sentence, by a masked language model.
#include "saltus/infill.hpp"

#include <cstdio>
#include <memory>
#include <optional>

#include "cli/commands.hpp"
#include "cli/infill/options.hpp"
#include "cli/infill/report.hpp"
#include "cli/progress.hpp"
#include "cli/terminal.hpp"
#include "saltus/core/error.hpp"

namespace saltus::cli {
namespace {

// What is wrong with any of the sentences is said before the first one is worked on.
void check_sentences(const Infiller& infiller, const InfillCommand& command) {
  for (const GappedText& s : command.sentences) {
    try {
      infiller.problem(s.text);
    } catch (const DataError& e) {
      throw DataError(s.where + e.what());
    }
  }
}

int score(Infiller& infiller, const InfillCommand& command) {
  const GappedText& sentence = command.sentences[0];
  try {
    infiller.ids_of(infiller.problem(sentence.text), command.score);
  } catch (const UsageError& e) {
    throw UsageError(std::string("--score: ") + e.what());
  }
  const InfillScore scored = infiller.score(sentence.text, command.score);
  command.json ? show_json(scored_json(sentence, infiller.bert(), scored))
               : print_scored(sentence, infiller.bert(), scored);
  return ok;
}

int fill(Infiller& infiller, const InfillCommand& command) {
  auto list = nlohmann::ordered_json::array();
  for (const GappedText& sentence : command.sentences) {
    InfillRequest request = command.request;
    request.text = sentence.text;
    std::optional<Progress> progress(std::in_place);
    const InfillResult result =
        infiller.fill(request, [&](const RunStatus& status) { return progress->update(status); });
    progress.reset();
    if (!result.complete) return 128 + signal_seen();
    const Infilled filled{command, sentence, infiller.bert(), result};
    if (command.json) {
      list.push_back(infilled_json(filled));
      continue;
    }
    if (&sentence == &command.sentences[0]) print_head(filled);
    print_completions(filled);
    std::fflush(stdout);
  }
  if (command.json) show_json(command.from_file ? list : list[0]);
  return ok;
}

int infill(const InfillCommand& command) {
  Infiller infiller(command.model.empty() ? default_bert() : load_bert(command.model),
                    command.device);
  check_sentences(infiller, command);
  return command.score.empty() ? fill(infiller, command) : score(infiller, command);
}

}  // namespace

void add_infill(CLI::App& program, int& status) {
  CLI::App* command =
      program.add_subcommand("infill", "Fill the gaps of a sentence by a masked language model");
  command->footer("  saltus infill \"the [MASK] sat by the [MASK] .\"");
  auto options = std::make_shared<InfillOptions>(*command);
  command->callback([options, &status] { status = infill(options->complete()); });
}

}  // namespace saltus::cli
