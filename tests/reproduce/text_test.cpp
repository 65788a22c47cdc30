// The experiment on text: tasks, cells on a shelf, comparisons, and the page's parts. No model is
// loaded.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "reproduce/text/page.hpp"

namespace saltus::reproduce::text {
namespace {

// Sentences of 1 to 40 words, all words different.
std::vector<Words> numbered(int count) {
  std::vector<Words> list;
  for (int s = 0; s < count; ++s) {
    Words words;
    for (int w = 0; w <= s % 40; ++w) words.push_back(fmt::format("{}-{}", s, w));
    list.push_back(words);
  }
  return list;
}

TEST(TextTasks, SentencesOfFittingLengthWithInnerGaps) {
  const std::vector<Words> sentences = numbered(400);
  const std::vector<Task> tasks = draw_tasks("TBC", sentences, 50, 1);
  ASSERT_EQ(tasks.size(), 50u);
  std::set<std::size_t> lines;
  for (const Task& task : tasks) {
    lines.insert(task.line);
    EXPECT_EQ(task.words, sentences[task.line]);
    const std::size_t n = task.words.size();
    EXPECT_GE(n, 15u);
    EXPECT_LE(n, 25u);
    EXPECT_EQ(task.gaps.size(), (n + 2) / 4);  // n / 4, halves rounded up
    EXPECT_TRUE(std::is_sorted(task.gaps.begin(), task.gaps.end()));
    EXPECT_EQ(std::set<int>(task.gaps.begin(), task.gaps.end()).size(), task.gaps.size());
    EXPECT_GE(task.gaps.front(), 1);
    EXPECT_LE(task.gaps.back(), static_cast<int>(n) - 2);
  }
  EXPECT_EQ(lines.size(), 50u);
}

TEST(TextTasks, DependOnSeedAndCorpus) {
  const std::vector<Words> sentences = numbered(400);
  const auto masked = [&](const std::string& corpus, std::uint64_t seed) {
    std::vector<std::string> list;
    for (const Task& t : draw_tasks(corpus, sentences, 5, seed)) list.push_back(t.masked());
    return list;
  };
  EXPECT_EQ(masked("TBC", 1), masked("TBC", 1));
  EXPECT_NE(masked("TBC", 1), masked("TBC", 2));
  EXPECT_NE(masked("TBC", 1), masked("WT103", 1));
  EXPECT_NE(seed_of_task(1, 0), seed_of_task(1, 1));
  EXPECT_NE(seed_of_task(1, 0), seed_of_task(2, 0));
}

TEST(TextTasks, TooFewSentencesAreRefused) {
  const std::vector<Words> sentences = numbered(20);  // six of them fit
  EXPECT_EQ(draw_tasks("TBC", sentences, 6, 1).size(), 6u);
  EXPECT_ANY_THROW(draw_tasks("TBC", sentences, 7, 1));
}

// Every inner place is equally likely: 17 words, 4 gaps among 15 places.
TEST(TextTasks, GapsAreUniform) {
  const std::vector<Words> sentences(1, Words(17, "a"));
  std::vector<int> counts(17);
  const int draws = 3000;
  for (std::uint64_t seed = 0; seed < draws; ++seed) {
    const Task task = draw_tasks("TBC", sentences, 1, seed)[0];
    for (const int gap : task.gaps) ++counts[static_cast<std::size_t>(gap)];
  }
  const double p = 4.0 / 15, sd = std::sqrt(draws * p * (1 - p));
  EXPECT_EQ(counts.front() + counts.back(), 0);
  for (std::size_t i = 1; i <= 15; ++i) EXPECT_NEAR(counts[i], draws * p, 5 * sd) << i;
}

TEST(TextTasks, FilledAndMasked) {
  const Task task{"TBC", 0, {"a", "b", "c", "d"}, {1, 2}};
  EXPECT_EQ(task.masked(), "a [MASK] [MASK] d");
  EXPECT_EQ(task.filled({"x", "y"}), (Words{"a", "x", "y", "d"}));
}

TEST(TextTasks, RepeatedWordsAreThoseOfTheSameGap) {
  const auto marks = repeated({{"a", "b"}, {"a", "c"}, {"b", "d"}});
  EXPECT_EQ(marks, (std::vector<std::vector<bool>>{{true, false}, {true, false}, {false, false}}));
}

// Three gaps and fifty pieces, all equally likely.
class AnyWord final : public InfillTarget {
 public:
  std::string name() const override { return "any word"; }
  const Domain& domain() const override { return domain_; }
  void evaluate(const At&, Rows<const Symbol>, double*, Rows<float>) const override {}
  const InfillProblem& problem() const override { return problem_; }
  const std::vector<std::int32_t>& allowed() const override { return allowed_; }
  void log_probabilities(const At&, Rows<const Symbol>, std::span<const int> gaps, bool,
                         Rows<float> out) const override {
    for (std::size_t r = 0; r < gaps.size(); ++r) {
      std::ranges::fill(out.row(static_cast<int>(r)), -1.0f);
    }
  }
  void terms(const At&, Rows<const Symbol>, Rows<double>) const override {}

 private:
  Domain domain_ = Domain::categorical(3, 50);
  InfillProblem problem_;
  std::vector<std::int32_t> allowed_;
};

TEST(TextCells, StartsOfTheirOwnAndAlike) {
  const AnyWord target;
  Scale scale{1, 10, 2, 3, 1};
  const auto starts = [&] {
    const RowBuffer<Symbol> x = start_states(target, scale, 7);
    std::vector<std::vector<Symbol>> rows;
    for (int c = 0; c < scale.chains; ++c) {
      rows.emplace_back(x.view().row(c).begin(), x.view().row(c).end());
    }
    return rows;
  };
  const auto own = starts();
  EXPECT_EQ(std::set(own.begin(), own.end()).size(), 10u);
  const Model model{{}, "sum"};
  const Task task{"TBC", 0, {"a", "b", "c"}, {1}};
  const auto key = [&] { return key_of(model, task, {"Gibbs", "gibbs"}, scale, Device::cpu, 7); };
  const Json own_key = key();
  scale.starts_alike = true;
  const auto alike = starts();
  EXPECT_EQ(std::set(alike.begin(), alike.end()).size(), 1u);
  EXPECT_EQ(alike[0], own[0]);
  EXPECT_NE(key(), own_key);
}

TEST(TextCells, TheBestByEnergy) {
  const Filling filling{{{"a"}, {"b"}, {"c"}, {"d"}}, {-3, -1, -2, -1}, 0, 0, 0};
  EXPECT_EQ(filling.best(3), (std::vector<std::size_t>{1, 3, 2}));
  EXPECT_EQ(filling.best(9).size(), 4u);
}

TEST(TextCells, AShelfReturnsWhatItKeptAndNothingElse) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "text-shelf";
  std::filesystem::remove_all(folder);
  const Shelf shelf(folder);
  const Json key = {{"sampler", "dmala"}, {"alpha", 0.4}, {"seed", 1}};
  EXPECT_FALSE(shelf.find(key));
  shelf.keep(key, {{{"a", "b"}, {"c", "d"}}, {-1.25, -2}, 0.5, 0.25, 3});
  const auto found = shelf.find(key);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->words, (std::vector<Words>{{"a", "b"}, {"c", "d"}}));
  EXPECT_EQ(found->energy, (std::vector<double>{-1.25, -2}));
  EXPECT_EQ(found->acceptance, 0.5);
  Json other = key;
  other["seed"] = 2;
  EXPECT_FALSE(shelf.find(other));
  // A file of the right name with another cell in it.
  const std::filesystem::path kept = std::filesystem::directory_iterator(folder)->path();
  std::filesystem::rename(kept, folder / "kept");
  shelf.keep(other, *found);
  std::filesystem::copy_file(folder / "kept", kept);
  EXPECT_TRUE(shelf.find(key));
  EXPECT_TRUE(shelf.find(other));
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path() != folder / "kept") {
      std::filesystem::copy_file(folder / "kept", file.path(),
                                 std::filesystem::copy_options::overwrite_existing);
    }
  }
  EXPECT_TRUE(shelf.find(key));
  EXPECT_FALSE(shelf.find(other));
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    std::ofstream(file.path()) << "{";
  }
  EXPECT_FALSE(shelf.find(key));
  EXPECT_FALSE(Shelf({}).find(key));
}

// ---- Comparisons and the page

Outcome outcome(double self_bleu, double unique, double bleu) {
  Outcome o;
  o.measures = {self_bleu, unique, unique, unique, unique, unique, unique, bleu};
  o.energy = -7;
  o.best = {{{{"x"}, -1}, {{"x"}, -2}, {{"y"}, -3}}};
  return o;
}

TextResults results_with(double dmala_self_bleu) {
  TextResults all{"toy", {100, 8, 1, 1, 8, 64, 2}, {1, 3, 2, 3, 1}, {}, {}, {}, 0};
  all.tasks = {{"TBC", 0, {"a", "<b>", "c"}, {1}}};
  const auto standing = [](const Entrant& entrant, double self_bleu, double unique) {
    Standing s{entrant, {}};
    for (const double noise : {-0.5, 0.0, 0.5}) {
      s.runs.push_back(outcome(self_bleu + noise, unique + noise, 20));
    }
    return s;
  };
  all.standings = {standing({"Gibbs", "gibbs"}, 85, 10), standing({"GWG", "gwg"}, 80, 15),
                   standing({"DULA", "dula", 0.4}, 70, 25),
                   standing({"DMALA", "dmala", 0.4}, dmala_self_bleu, 25)};
  return all;
}

TEST(TextComparisons, ByPairsOfSeeds) {
  const TextResults all = results_with(82);
  const std::vector<Comparison> list = compare(all.standings);
  EXPECT_EQ(list.size(), 8u * 4u);
  for (const Comparison& c : list) {
    const bool worse = c.langevin->entrant.label == "DMALA" && c.other->entrant.label == "GWG" &&
                       std::string(c.measure->name) == "self_bleu";
    EXPECT_EQ(c.holds(), !worse) << c.measure->name;
    if (!worse) continue;
    EXPECT_NEAR(c.difference.mean, 2, 1e-12);
  }
}

TEST(TextComparisons, LeaveOutWhatIsNotFinished) {
  TextResults all = results_with(70);
  for (auto& run : all.standings[0].runs) run.reset();
  EXPECT_TRUE(all.standings[0].empty());
  for (const Comparison& c : compare(all.standings)) EXPECT_EQ(c.other->entrant.label, "GWG");
  all.standings[1].runs[0].reset();
  EXPECT_EQ(compare(all.standings).size(), 16u);
  EXPECT_NO_THROW(text_results(all, false));
}

TEST(TextComparisons, OneSeedIsNotJudged) {
  TextResults all = results_with(70);
  for (Standing& s : all.standings) s.runs.resize(1);
  EXPECT_EQ(compare(all.standings).size(), 8u * 4u);
  const Results results = text_results(all, false);
  for (const Row& row : results.rows) EXPECT_EQ(row.verdict, Verdict::not_published);
  for (const std::string& text : results.findings) {
    EXPECT_EQ(text.find("more diverse in"), std::string::npos) << text;
  }
}

TEST(TextComparisons, QualityMustBeSimilar) {
  TextResults all = results_with(70);
  for (auto& run : all.standings[3].runs) run->measures.bleu = 17.9;
  int failed = 0;
  for (const Comparison& c : compare(all.standings)) failed += !c.holds();
  EXPECT_EQ(failed, 2);  // 17.9 / 20 is below 0.9, against Gibbs and against GWG
}

TEST(TextPage, SaysWhatTheModelIsAndWhetherTheOrderingHolds) {
  const Results good = text_results(results_with(70), false);
  EXPECT_NE(good.findings[0].find("not BERT-base"), std::string::npos);
  const auto verdict = [](const Results& r) { return *(r.findings.end() - 2); };
  EXPECT_NE(verdict(good).find("holds here. DULA is more diverse in 14 of 14"), std::string::npos)
      << verdict(good);
  const Results bad = text_results(results_with(82), false);
  EXPECT_NE(verdict(bad).find("does not hold"), std::string::npos) << verdict(bad);
  EXPECT_NE(verdict(bad).find("DULA is more diverse in 14 of 14"), std::string::npos);
  EXPECT_NE(verdict(bad).find("DMALA is more diverse in 13 of 14 comparisons with Gibbs and GWG, "
                              "its corpus BLEU 1.00 to 1.00 of theirs"),
            std::string::npos)
      << verdict(bad);
  EXPECT_NE(bad.findings.back().find("Gibbs -7.0, GWG -7.0, DULA -7.0"), std::string::npos)
      << bad.findings.back();
  const Results quick = text_results(results_with(82), true);
  for (const Row& row : quick.rows) EXPECT_EQ(row.verdict, Verdict::not_published);
}

TEST(TextPage, MarksFilledAndRepeatedWords) {
  const Results results = text_results(results_with(70), false);
  const auto section = std::find_if(results.sections.begin(), results.sections.end(),
                                    [](const Section& s) { return s.heading == "Examples"; });
  ASSERT_NE(section, results.sections.end());
  const auto& rows = section->tables[0].rows;
  ASSERT_EQ(rows.size(), 12u);  // three completions by each of four samplers
  EXPECT_EQ(rows[0][2].text, "a x c");
  EXPECT_EQ(rows[0][2].phrases[2].look, report::Phrase::Look::marked);
  EXPECT_EQ(rows[2][2].text, "a y c");
  EXPECT_EQ(rows[2][2].phrases[2].look, report::Phrase::Look::strong);
  EXPECT_EQ(rows[2][2].phrases[0].look, report::Phrase::Look::plain);
}

TEST(TextPaper, ModelsByTheirDimensions) {
  EXPECT_EQ(paper_model({30522, 768, 12, 12, 3072, 512, 2}), PaperModel::base);
  EXPECT_EQ(paper_model({30522, 1024, 24, 16, 4096, 512, 2}), PaperModel::large);
  EXPECT_FALSE(paper_model({30522, 384, 6, 12, 1536, 512, 2}));
  EXPECT_DOUBLE_EQ(published(PaperModel::base, "DMALA")->self_bleu, 72.59);
  EXPECT_DOUBLE_EQ(published(PaperModel::large, "Gibbs")->bleu, 22.57);
  EXPECT_FALSE(published(PaperModel::base, "Barker"));
}

}  // namespace
}  // namespace saltus::reproduce::text
