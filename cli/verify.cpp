// saltus verify: is this sampler right for this model?
#include "saltus/verify.hpp"

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"

namespace saltus::cli {
namespace {

void print_head(const VerifyRequest& request) {
  const auto sampler = make_sampler(request.sampler, *request.target, request.settings);
  const std::string parameters = parameters_text(sampler->parameters(), {"adapt"});
  show("{} on {}, {} coordinates ({})\n\n", sampler->name(), request.target->name(),
       request.target->domain().dim(), parameters);
}

const char* conclusion(const VerifyResult& result) {
  if (!result.good()) return "Something is wrong: see FAILED above.";
  if (result.kernel_checked()) return "Nothing wrong was found.";
  return "What was checked is right; the kernel was not checked, as said above.";
}

int verify(const VerifyRequest& request, bool json) {
  if (!json) print_head(request);
  const VerifyResult result = saltus::verify(request, [&](const Check& c) {
    if (!json) show("{:<14} {:<8} {}\n", c.name, verdict_word(c.outcome), c.detail);
    return true;
  });
  if (json) {
    show_json(verify_json(request, result));
  } else {
    show("\n{}\n", conclusion(result));
  }
  return result.good() ? ok : failed;
}

}  // namespace

void add_verify(CLI::App& program, int& status) {
  CLI::App* command =
      program.add_subcommand("verify", "Check a sampler on a model: exactly where it is small");
  struct Options {
    ModelRequest model;
    std::string sampler = "dmala";
    std::vector<std::string> set;
    bool json = false;
  };
  auto o = std::make_shared<Options>();
  o->model.model = "ising-2x2";
  add_model_options(*command, o->model);
  add_default(*command, "--sampler", o->sampler, "Sampler");
  add_settings(*command, o->set);
  command->add_flag("--json", o->json, "Print the results as JSON, and nothing else");
  command->callback([o, &status] {
    const Settings settings = parse_settings(o->set);
    Model model = load_model(o->model);
    if (model.whole && !o->json) show("Given {}.\n", given_text(model.whole->given));
    status = verify({shared_target(std::move(model)), o->sampler, settings, nullptr}, o->json);
  });
}

}  // namespace saltus::cli
