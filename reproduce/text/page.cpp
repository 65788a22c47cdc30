#include "reproduce/text/page.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace saltus::reproduce::text {
namespace {

constexpr PaperModel kPaperModels[] = {PaperModel::base, PaperModel::large};
// Two corpus BLEUs are similar when the smaller has at least this part of the larger one. The
// paper's own go down to 0.92.
constexpr double kSimilar = 0.9;

// Completions of a sampler in a table of examples.
constexpr std::size_t kShown = 3;

const char* name_of(PaperModel model) {
  return model == PaperModel::base ? "BERT-base" : "BERT-large";
}

std::string model_text(const TextResults& all) {
  return fmt::format("{} ({} layers of width {}, {} word pieces)", all.model, all.config.layers,
                     all.config.hidden, all.config.vocabulary);
}

// "DULA" of "DULA 0.4".
std::string plain_label(const std::string& label) {
  return label.substr(0, label.find(' '));
}

Measured of_measure(const Standing& s, const Measure& m) {
  return s.over_runs([&](const Outcome& o) { return o.measures.*m.of; });
}

void add_measure_rows(const TextResults& all, bool quick, Results& results) {
  const std::optional<PaperModel> model = paper_model(all.config);
  for (const Standing& s : all.standings) {
    if (s.empty()) continue;
    const auto paper =
        model && !quick ? published(*model, plain_label(s.entrant.label)) : std::nullopt;
    for (const Measure& m : kMeasures) {
      const Measured ours = of_measure(s, m);
      Row& row =
          results.add(m.name, s.entrant.setting({{"model", all.model}}), ours, "In per cent.");
      if (paper) row.paper = paper.value().*m.of;
      if (paper && ours.sd > 0) {
        row.verdict = judge_number(ours, {*row.paper, {}, 0.01});
        row.note += fmt::format(" Our standard deviation over seeds is {:.2f}.", ours.sd);
      }
    }
  }
}

void add_run_rows(const TextResults& all, Results& results) {
  const auto add = [&](const Standing& s, const char* quantity, double Outcome::*of,
                       const std::string& note) {
    results.add(quantity, s.entrant.setting({{"model", all.model}}), s.over_runs(of), note);
  };
  for (const Standing& s : all.standings) {
    if (s.empty()) continue;
    if (s.entrant.sampler == "dmala" || s.entrant.sampler == "gwg") {
      add(s, "acceptance", &Outcome::acceptance, "Over all steps.");
    }
    add(s, "changed", &Outcome::changed, "Part of the gaps that a step changes.");
    add(s, "energy", &Outcome::energy, "Mean U of a sentence, all chains after the last step.");
    add(s, "energy_of_the_best", &Outcome::top_energy,
        fmt::format("The same of the best {} of {} chains.", all.scale.top, all.scale.chains));
    add(s, "seconds", &Outcome::seconds,
        fmt::format("Of the clock for {} sentences.", 2 * all.scale.sentences));
  }
  for (std::size_t k = 0; k < all.sweep.alphas.size(); ++k) {
    results.add("acceptance_in_the_sweep",
                Entrant{"DMALA", "dmala", all.sweep.alphas[k]}.setting({{"model", all.model}}),
                {all.sweep.acceptance[k]},
                fmt::format("On {} sentences of the first run.", 2 * all.scale.swept));
  }
}

// What the paper's table says of a comparison.
double paper_difference(PaperModel model, const Comparison& c) {
  const auto a = published(model, plain_label(c.langevin->entrant.label));
  const auto b = published(model, c.other->entrant.label);
  if (!a || !b) return NAN;
  const double x = a.value().*c.measure->of, y = b.value().*c.measure->of;
  return c.measure->of == &Measures::bleu ? x / y : x - y;
}

void judge(std::vector<Comparison>& list) {
  std::vector<Measured> diversity;
  for (Comparison& c : list) {
    if (c.of_quality())
      c.verdict = judge_similar(c.difference, kSimilar, 1 / kSimilar);
    else
      diversity.push_back(c.more_diverse());
  }
  const std::vector<Verdict> verdicts = judge_signs(diversity, Sign::positive);
  auto verdict = verdicts.begin();
  for (Comparison& c : list) {
    if (!c.of_quality()) c.verdict = *verdict++;
  }
}

void add_comparison_rows(const TextResults& all, bool quick, Results& results) {
  for (const Comparison& c : compare(all.standings)) {
    const bool quality = c.of_quality();
    Row& row = results.add(
        fmt::format("{}_{}", c.measure->name, quality ? "ratio" : "difference"),
        {{"model", all.model},
         {"samplers", fmt::format("{} and {}", c.langevin->entrant.label, c.other->entrant.label)}},
        c.difference);
    if (!quick) row.paper = paper_difference(PaperModel::base, c);
    if (!quick && c.difference.error) row.verdict = c.verdict;
    const double large = paper_difference(PaperModel::large, c);
    row.note = quality
                   ? fmt::format(
                         "The statement is that the two are similar: {:g} or more, either way. "
                         "With BERT-large: {:.3f}.",
                         kSimilar, large)
                   : fmt::format(
                         "The statement is that the first is more diverse: the sign, by "
                         "Student's t with Holm's correction over all comparisons of diversity. "
                         "With BERT-large: {:+.2f}.",
                         large);
    row.note += " The paper's number is of BERT-base.";
  }
}

// ---- The table and its bars

std::string with_sd(const Measured& m) {
  return m.error ? fmt::format("{:.1f} ± {:.1f}", m.mean, m.sd) : fmt::format("{:.1f}", m.mean);
}

report::Table table_of(const TextResults& all) {
  report::Table table{
      "In per cent; the rows of BERT-base and BERT-large are the paper's. \"Self, 2\" is the part "
      "of pairs of words that come once among the generated sentences, \"WT103, 2\" and \"TBC, 2\" "
      "of those that a corpus does not have; 3: of three words. Diverse sentences have a low "
      "self-BLEU and many of these; sentences like those of the corpora have a high BLEU. U is the "
      "mean of the kept sentences: the larger, the better for the model. ± is one standard "
      "deviation over seeds.",
      {"Model and sampler"}};
  for (const Measure& m : kMeasures) table.columns.emplace_back(m.column);
  table.columns.emplace_back("U");
  for (const Standing& s : all.standings) {
    std::vector<Cell> row{all.model + ", " + s.entrant.label};
    const auto add = [&](const Measured& m, const std::string& text) {
      row.push_back(s.empty() ? Cell(std::nan(""), "-") : Cell(m.mean, text));
    };
    for (const Measure& m : kMeasures) add(of_measure(s, m), with_sd(of_measure(s, m)));
    const Measured energy = s.over_runs(&Outcome::top_energy);
    add(energy, fmt::format("{:.1f}", energy.mean));
    table.rows.push_back(std::move(row));
  }
  for (const PaperModel model : kPaperModels) {
    for (const char* label : {"Gibbs", "GWG", "DULA", "DMALA"}) {
      const Measures numbers = published(model, label).value();
      std::vector<Cell> row{fmt::format("{}, {}", name_of(model), label)};
      for (const Measure& m : kMeasures) {
        row.emplace_back(numbers.*m.of, fmt::format("{:.1f}", numbers.*m.of));
      }
      row.emplace_back(std::nan(""), "-");
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

Plot bars_of(const TextResults& all, const Measure& measure, const std::string& title,
             const std::string& summary) {
  Plot plot = labelled(title, "sampler", "per cent");
  plot.kind = Plot::Kind::bars;
  plot.summary = summary;
  plot.series = {{all.model}};
  for (const PaperModel model : kPaperModels)
    plot.series.push_back({fmt::format("{} (paper)", name_of(model))});
  for (const Standing& s : all.standings) {
    if (s.empty()) continue;
    plot.categories.push_back(s.entrant.label);
    const Measured m = of_measure(s, measure);
    plot.series[0].y.push_back(m.mean);
    add_band(m, plot.series[0]);
    for (std::size_t k = 0; k < std::size(kPaperModels); ++k) {
      const auto numbers = published(kPaperModels[k], plain_label(s.entrant.label));
      plot.series[k + 1].y.push_back(numbers ? numbers.value().*measure.of : std::nan(""));
    }
  }
  return plot;
}

void add_table(const TextResults& all, Results& results) {
  Section section{"Diversity and quality",
                  {"A gap is filled by one piece of the vocabulary that is a whole word: no "
                   "special token, and no piece that continues a word."},
                  {},
                  {table_of(all)}};
  if (std::ranges::any_of(all.standings, [](const Standing& s) { return !s.empty(); })) {
    section.plots = {
        bars_of(all, kMeasures[0], "Self-BLEU: low is diverse",
                "Each generated sentence against all others. Bars of ours end at the mean over "
                "seeds, with one standard deviation."),
        bars_of(all, kMeasures[std::size(kMeasures) - 1], "Corpus BLEU: high is like the corpora",
                "The generated sentences against all of both corpora.")};
  }
  results.sections.push_back(std::move(section));
}

void add_sweep(const TextResults& all, Results& results) {
  if (all.sweep.alphas.size() < 2) return;
  Plot plot = labelled("Acceptance of DMALA by step size", "step size", "acceptance");
  plot.log_x = true;
  plot.y_from = 0, plot.y_to = 1;
  plot.summary = "Means over the steps and chains of some sentences of the first run.";
  plot.series = {{"DMALA", all.sweep.alphas, all.sweep.acceptance}};
  std::vector<std::string> text = {
      "The paper does not give its step size. Here it is the one, of those tried, at which DMALA "
      "accepts nearest to half of its proposals; DULA has the same."};
  for (std::size_t k = 0; k < all.sweep.alphas.size(); ++k) {
    if (all.sweep.chosen != all.sweep.alphas[k]) continue;
    text.push_back(fmt::format("Chosen: {:g}, where it accepts {:.0f} %.", all.sweep.alphas[k],
                               100 * all.sweep.acceptance[k]));
  }
  results.sections.push_back({"The step size", std::move(text), {std::move(plot)}});
}

// ---- Examples

std::vector<Phrase> phrases_of(const Task& task, const Words& words,
                               const std::vector<bool>& again) {
  std::vector<Phrase> phrases;
  std::size_t gap = 0;
  for (std::size_t i = 0; i < task.words.size(); ++i) {
    if (i > 0) phrases.push_back({" "});
    if (gap < task.gaps.size() && static_cast<std::size_t>(task.gaps[gap]) == i) {
      phrases.push_back({words[gap], again[gap] ? Phrase::Look::marked : Phrase::Look::strong});
      ++gap;
    } else {
      phrases.push_back({task.words[i]});
    }
  }
  return phrases;
}

report::Table examples_of(const TextResults& all, std::size_t t) {
  const Task& task = all.tasks[t];
  report::Table table{fmt::format("{}: {}", task.corpus, task.masked()),
                      {"Sampler", "U", "Sentence"}};
  for (const Standing& s : all.standings) {
    if (s.runs.empty() || !s.runs[0]) continue;
    std::vector<Words> words;
    for (const Completion& c : s.runs[0]->best[t]) words.push_back(c.words);
    const auto again = repeated(words);
    for (std::size_t k = 0; k < std::min(words.size(), kShown); ++k) {
      const double energy = s.runs[0]->best[t][k].energy;
      table.rows.push_back({k == 0 ? s.entrant.label : "",
                            {energy, fmt::format("{:.2f}", energy)},
                            phrases_of(task, words[k], again[k])});
    }
  }
  return table;
}

void add_examples(const TextResults& all, Results& results) {
  Section section{
      "Examples",
      {fmt::format("The three best completions of two sentences of the first run. Words that were "
                   "filled in are set in bold; those on a coloured ground are repeated: another of "
                   "the {} best completions by the same sampler has the same word in this gap.",
                   all.scale.top)}};
  for (const std::size_t t : std::set{std::size_t{0}, all.tasks.size() / 2}) {
    section.tables.push_back(examples_of(all, t));
    if (section.tables.back().rows.empty()) return;
  }
  results.sections.push_back(std::move(section));
}

// ---- In short

// "DULA is more diverse in 14 of 14 comparisons with Gibbs and GWG, its corpus BLEU 0.88 to 0.90 of
// theirs."
std::string standing_text(const Standing& standing, const std::vector<Comparison>& list) {
  int held = 0, count = 0;
  std::vector<double> ratios;
  for (const Comparison& c : list) {
    if (c.langevin != &standing) continue;
    if (c.of_quality()) {
      ratios.push_back(c.difference.mean);
    } else {
      held += c.holds(), ++count;
    }
  }
  const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
  return fmt::format(
      "{} is more diverse in {} of {} comparisons with Gibbs and GWG, its corpus BLEU {:.2f} to "
      "{:.2f} of theirs.",
      standing.entrant.label, held, count, *low, *high);
}

// How likely the fillings are: what a sampler without a Metropolis test may pay for diversity.
std::string energies_text(const std::vector<Standing>& standings) {
  std::vector<std::string> means;
  for (const Standing& s : standings) {
    if (s.empty()) continue;
    means.push_back(fmt::format("{} {:.1f}", s.entrant.label, s.over_runs(&Outcome::energy).mean));
  }
  return fmt::format(
      "The mean of U, the log of how likely the model finds the fillings: {}. DULA has no "
      "Metropolis test: where its U is far below DMALA's, it draws from another distribution.",
      fmt::join(means, ", "));
}

void add_verdict(const TextResults& all, Results& results) {
  std::vector<Comparison> list = compare(all.standings);
  std::erase_if(list, [](const Comparison& c) { return !c.difference.error; });  // one seed
  if (list.empty()) return;
  const bool all_hold = std::ranges::all_of(list, &Comparison::holds);
  std::string text =
      "The paper's ordering (DULA and DMALA more diverse than Gibbs and GWG, at a similar corpus "
      "BLEU) ";
  text += all_hold ? "holds here." : "does not hold here as a whole.";
  for (const Standing& s : all.standings) {
    if (std::ranges::count(list, &s, &Comparison::langevin) > 0)
      text += " " + standing_text(s, list);
  }
  results.findings.push_back(text);
  results.findings.push_back(energies_text(all.standings));
}

void add_findings(const TextResults& all, bool quick, Results& results) {
  const std::optional<PaperModel> model = paper_model(all.config);
  results.findings.push_back(
      model ? fmt::format("The model, {}, has the dimensions of {}.", model_text(all),
                          name_of(*model))
            : fmt::format("The model is {}, not BERT-base or BERT-large: the numbers cannot be "
                          "compared with the paper's one by one. What can be tested is the paper's "
                          "ordering of the samplers.",
                          model_text(all)));
  if (quick) {
    results.findings.push_back(
        "This is the quick version: few sentences, few chains and steps, too few for a verdict.");
  }
  if (all.scale.starts_alike) {
    results.findings.push_back(
        "All chains of a sentence start with the same words (--starts alike), so that samplers "
        "that move little look less diverse.");
  }
  if (all.missing > 0) {
    results.findings.push_back(
        fmt::format("{} cells (a sentence, a sampler and a seed each) are missing, because time "
                    "was up (--time). The same call with the same --out goes on with them.",
                    all.missing));
  }
  if (all.sweep.chosen) {
    results.findings.push_back(
        fmt::format("The step size of DULA and DMALA is {:g}.", *all.sweep.chosen));
  }
  if (!quick) add_verdict(all, results);
}

}  // namespace

Measured Comparison::more_diverse() const {
  Measured m = difference;
  if (measure->of == &Measures::self_bleu) m.mean = -m.mean;
  return m;
}

bool Standing::empty() const {
  return std::none_of(runs.begin(), runs.end(), [](const auto& run) { return run.has_value(); });
}

std::vector<Comparison> compare(const std::vector<Standing>& standings) {
  std::vector<Comparison> list;
  const auto langevin = [](const Standing& s) { return !std::isnan(s.entrant.alpha); };
  for (const Measure& m : kMeasures) {
    const bool quality = m.of == &Measures::bleu;
    for (const Standing& a : standings) {
      for (const Standing& b : standings) {
        if (!langevin(a) || langevin(b)) continue;
        std::vector<double> values;
        for (std::size_t run = 0; run < std::min(a.runs.size(), b.runs.size()); ++run) {
          if (!a.runs[run] || !b.runs[run]) continue;
          const double x = a.runs[run]->measures.*m.of, y = b.runs[run]->measures.*m.of;
          values.push_back(quality ? x / y : x - y);
        }
        if (values.empty()) continue;
        list.push_back({&a, &b, &m, measured(values)});
      }
    }
  }
  judge(list);
  return list;
}

Results text_results(const TextResults& all, bool quick) {
  Results results;
  add_findings(all, quick, results);
  add_table(all, results);
  add_examples(all, results);
  add_sweep(all, results);
  add_comparison_rows(all, quick, results);
  add_measure_rows(all, quick, results);
  add_run_rows(all, results);
  return results;
}

}  // namespace saltus::reproduce::text
