// saltus infill: words for the gaps of a sentence, by a masked language model.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "cli/commands.hpp"
#include "cli/infill/options.hpp"
#include "cli/infill/report.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/terminal.hpp"
#include "saltus/core/error.hpp"

namespace saltus::cli {
namespace {

using Json = nlohmann::ordered_json;

class Infill {
 public:
  explicit Infill(InfillRequest request)
      : request_(std::move(request)),
        bert_(request_.model.empty() ? default_bert() : load_bert(request_.model)) {
    for (const GappedText& s : request_.sentences) problems_.push_back(problem_of(s));
    if (!request_.score.empty()) score_ids_ = ids_of_words();
    module_ = &torch_module("saltus infill");
    model_ = module_->load_masked_model(bert_, request_.device);
  }

  void score() const {
    const InfillProblem& problem = problems_[0];
    const auto target = module_->infill(model_, problem, request_.allowed);
    const RowBuffer<Symbol> x(1, target->domain().dim());
    const std::vector<std::int32_t>& allowed = target->allowed();
    for (std::size_t i = 0; i < score_ids_.size(); ++i) {
      const auto at = std::lower_bound(allowed.begin(), allowed.end(), score_ids_[i]);
      x.view()[0][i] = static_cast<Symbol>(at - allowed.begin());
    }
    const Scored scored{request_.sentences[0], bert_, problem, completions(*target, x.view())[0],
                        gradient_rows(*target, x.view())};
    request_.json ? show_json(scored_json(scored)) : print_scored(scored);
  }

  // False when a signal stopped it.
  bool sample() const {
    Json list = Json::array();
    for (std::size_t k = 0; k < problems_.size(); ++k) {
      const auto target = module_->infill(model_, problems_[k], request_.allowed);
      const std::optional<Infilled> result = sample_one(request_.sentences[k], *target);
      if (!result) return false;
      if (request_.json) {
        list.push_back(infilled_json(*result));
        continue;
      }
      if (k == 0) print_head(*result);
      print_completions(*result);
      std::fflush(stdout);
    }
    if (request_.json) show_json(request_.from_file ? list : list[0]);
    return true;
  }

 private:
  InfillProblem problem_of(const GappedText& sentence) const {
    try {
      return make_infill_problem(bert_, sentence.text);
    } catch (const DataError& e) {
      throw DataError(sentence.where + e.what());
    }
  }

  std::vector<std::int32_t> ids_of_words() const {
    const std::size_t gaps = problems_[0].gaps.size();
    if (request_.score.size() != gaps) {
      throw UsageError(fmt::format("--score has {} word{}, but the text has {} gap{}",
                                   request_.score.size(), request_.score.size() == 1 ? "" : "s",
                                   gaps, gaps == 1 ? "" : "s"));
    }
    std::vector<std::int32_t> ids;
    for (const std::string& word : request_.score) ids.push_back(id_of(word));
    return ids;
  }

  std::int32_t id_of(const std::string& word) const {
    const WordPieces& pieces = *bert_.pieces;
    if (const std::int32_t id = pieces.id(word); id >= 0) return id;
    const std::vector<std::int32_t> ids = pieces.encode(word);
    if (ids.size() == 1 && ids[0] != pieces.unknown()) return ids[0];
    std::string parts;
    for (const std::int32_t id : ids) parts += (parts.empty() ? "" : " ") + pieces.piece(id);
    throw UsageError(
        fmt::format("--score: '{}' is not one piece of the vocabulary of {}{}", word, bert_.name,
                    ids.size() > 1 ? fmt::format(", but {} ({})", ids.size(), parts) : ""));
  }

  std::vector<Completion> completions(const InfillTarget& target, Rows<const Symbol> x) const {
    const RowBuffer<double> terms(x.rows, x.cols);
    Scratch scratch;
    target.terms({0, 0, scratch}, x, terms.view());
    std::vector<Completion> list;
    for (int r = 0; r < x.rows; ++r) {
      Completion c;
      for (int i = 0; i < x.cols; ++i) {
        c.words.push_back(bert_.pieces->piece(target.allowed()[x[r][i]]));
        c.log_f.push_back(terms.view()[r][i]);
        c.energy += terms.view()[r][i];
      }
      c.chains = {r};
      list.push_back(std::move(c));
    }
    return list;
  }

  std::vector<Scored::GradientRow> gradient_rows(const InfillTarget& target,
                                                 Rows<const Symbol> x) const {
    const Domain& domain = target.domain();
    const RowBuffer<float> score(1, domain.score_size());
    Scratch scratch;
    double logp = 0;
    target.evaluate({0, 0, scratch}, x, &logp, score.view());
    std::vector<Scored::GradientRow> rows;
    for (int i = 0; i < domain.dim(); ++i) {
      const float* g = score.view()[0] + domain.score_begin(i);
      const float* largest = std::max_element(g, g + domain.levels(i));
      double squares = 0;
      for (int k = 0; k < domain.levels(i); ++k) squares += double{g[k]} * double{g[k]};
      rows.push_back({std::sqrt(squares), double{*largest},
                      target.allowed()[static_cast<std::size_t>(largest - g)]});
    }
    return rows;
  }

  std::unique_ptr<Sampler> make(const InfillTarget& target) const {
    // The conditional law of U itself would take an evaluation for every piece.
    return request_.sampler == "gibbs" ? make_conditional_gibbs(target)
                                       : make_sampler(request_.sampler, target, request_.settings);
  }

  RunPlan plan_of_request() const {
    RunPlan plan;
    plan.chains = request_.chains;
    plan.warmup = 0;
    plan.draws = request_.steps;
    plan.seed = request_.seed;
    plan.threads = request_.threads;
    return plan;
  }

  // False when a signal stopped it.
  static bool go(Run& run, Rows<const Symbol> start) {
    run.start(start);
    Progress progress;
    const bool complete = run.go([&](const RunStatus& status) {
      progress.update(status);
      return !signal_seen();
    });
    progress.clear();
    return complete;
  }

  static RowBuffer<Symbol> states_of(const Run& run, int dim) {
    RowBuffer<Symbol> x(run.plan().chains, dim);
    for (int c = 0; c < run.plan().chains; ++c) std::copy_n(run.state(c), dim, x.view()[c]);
    return x;
  }

  std::optional<Infilled> sample_one(const GappedText& sentence, const InfillTarget& target) const {
    RunPlan plan = plan_of_request();
    std::unique_ptr<Sampler> sampler = make(target);
    const bool tuned = sampler->tunable() != nullptr, exact = sampler->exact();
    if (tuned) plan.warmup = request_.warmup;
    Run run(target, std::move(sampler), plan);
    if (!go(run, draw_from_marginals(target, plan.chains, plan.seed).view())) return std::nullopt;
    return Infilled{request_,
                    sentence,
                    bert_,
                    target.allowed().size(),
                    completions(target, states_of(run, target.domain().dim()).view()),
                    run.statistics(),
                    run.sampler().parameters(),
                    tuned,
                    exact};
  }

  InfillRequest request_;
  BertFiles bert_;
  std::vector<InfillProblem> problems_;
  std::vector<std::int32_t> score_ids_;
  const TorchModule* module_;
  std::shared_ptr<const MaskedModel> model_;
};

int infill(InfillRequest request) {
  const bool scoring = !request.score.empty();
  const Infill task(std::move(request));
  if (scoring) return task.score(), ok;
  catch_interrupts();
  return task.sample() ? ok : 128 + signal_seen();
}

}  // namespace

void add_infill(CLI::App& program, int& status) {
  CLI::App* command =
      program.add_subcommand("infill", "Fill the gaps of a sentence by a masked language model");
  command->footer("  saltus infill \"the [MASK] sat by the [MASK] .\"");
  auto options = std::make_shared<InfillOptions>(*command);
  command->callback([options, &status] { status = infill(options->request()); });
}

}  // namespace saltus::cli
