// Results of services as JSON: what the program prints with --json, and what callers in other
// languages get.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "saltus/anneal.hpp"
#include "saltus/certify.hpp"
#include "saltus/compare.hpp"
#include "saltus/exact.hpp"
#include "saltus/logz.hpp"
#include "saltus/sample.hpp"
#include "saltus/verify.hpp"

namespace saltus {

using OrderedJson = nlohmann::ordered_json;

// A list of numbers that may be long is not held as JSON: its place holds the text long_list(NAME),
// and `lists` its numbers by name. The JSON library ends the program when memory runs out while it
// frees a large value.
struct LongList {
  LongList() = default;
  LongList(const std::vector<double>& list, bool all_whole = false)
      : numbers(list), whole(all_whole) {}
  std::span<const double> numbers;
  bool whole = false;  // written without a decimal point
};
using LongLists = std::map<std::string, LongList>;
std::string long_list(const std::string& name);
// The text in pieces, one after the other.
void write_json(const OrderedJson& json, const LongLists& lists, int indent,
                const std::function<void(std::string_view)>& out);

// A JSON number, or null for what JSON cannot hold.
OrderedJson json_number(double v);
// The same for an R-hat, which is "inf" where chains are constant and differ; null: there is none.
OrderedJson json_rhat(double v);
// Fields labels and level_names, where there are names.
void add_labels(OrderedJson& summary, const Labels& labels);
// The constraint of a target, where it has one, as the field `constraint`.
void add_constraint(OrderedJson& json, const Target& target);
// {"3": 1, ...}
OrderedJson given_json(const GivenValues& given);
OrderedJson parameters_json(const std::vector<Parameter>& parameters);
// A list of codes and sentences: in reports, and in files of draws.
OrderedJson warnings_json(const Warnings& warnings);
OrderedJson observables_json(const std::vector<ObservableSummary>& list);
// null where there is none. The state is long_list("best.state"), with the numbers best_levels.
OrderedJson best_json(const std::optional<BestDraw>& best);
std::vector<double> best_levels(const std::optional<BestDraw>& best);

// Class probabilities of some coordinates, one after the other: entry k of every list belongs to
// one class.
struct ClassLists {
  std::vector<double> coordinate, level, probability, mcse, ess, rhat;
  std::vector<double> exact;  // empty where no exact answer is known

  void add(int number, const CoordinateSummary& summary);
  // Exact probabilities of the classes added so far.
  void add_exact(const Domain& domain, const ExactAnswer& answer);
  // An object with the lists, and what write_json puts into their places.
  OrderedJson json() const;
  void put_into(LongLists& lists) const;
};
// Of all watched coordinates.
ClassLists class_lists(const SampleResult& result);

// One number of each summary.
std::vector<double> column(const std::vector<CoordinateSummary>& all,
                           double CoordinateSummary::*of);

// The lists are "mean", "best.state" and those of ClassLists::put_into. `repeat`: where a race
// chose the sampler, the command that makes the same draws without one.
OrderedJson sample_json(const SampleResult& result, const ClassLists& classes,
                        const std::string& repeat);
// The same with its lists, as a text.
void write_sample_json(const SampleResult& result, const std::string& repeat, int indent,
                       const std::function<void(std::string_view)>& out);

// Best beside goal, by the objective; nothing where that says nothing.
std::optional<double> goal_ratio(const AnnealRequest& request, double best);
// Of the best state.
std::optional<double> goal_ratio(const AnnealRequest& request, const AnnealResult& result);
// With the list "betas".
OrderedJson anneal_json(const AnnealRequest& request, const AnnealResult& result,
                        const std::string& model, const std::string& schedule);

OrderedJson verify_json(const VerifyRequest& request, const VerifyResult& result);
const char* verdict_word(Check::Outcome outcome);  // "ok", "FAILED", ...

// Of all coordinates, also where values are given.
OrderedJson exact_json(const Target& target, const EliminationAnswer& answer, const Labels& labels,
                       const WholeModel* whole);

// Shares of the pairs whose meeting times are shown.
inline constexpr double kMeetingShares[] = {0.1, 0.5, 0.9, 0.99, 1};
// Coordinates of the result's means are those of the whole model; `name` says what each is of.
OrderedJson certificate_json(const CertifyRequest& request, const CertifyResult& result,
                             const WholeModel* whole,
                             const std::function<std::string(const UnbiasedMean&)>& name);

// What the front of `logz` knows beside the request.
struct LogzNames {
  std::string method, base;  // "ais", "model"
  std::string test;          // the data's name
  int test_rows = 0;
  const WholeModel* whole = nullptr;  // where values are given
};
OrderedJson logz_json(const LogzRequest& request, const LogzResult& result, const LogzNames& names);

// A race, and how the front of `compare` speaks of it.
struct CompareReport {
  const Target& target;  // of all coordinates
  const RacePlan& plan;
  const CompareResult& outcome;
  const WholeModel* whole = nullptr;  // where values are given
  // What draws as a contender did; empty: nothing is said.
  std::function<std::string(const RaceResult&)> command = {};
  // Follows "no winner", as in "Give a larger budget"; the second where tempering may help.
  std::string longer = "Allow more time for each sampler", tempered = ", or draw tempered";
  const std::vector<RaceResult>& results = outcome.results;

  bool ranked(std::size_t i) const { return results[i].exact && results[i].random; }
  std::vector<std::size_t> by_merit(bool of_ranked) const;  // places of the results
  std::string name(int i) const { return results[static_cast<std::size_t>(i)].contender.label(); }
  std::string sentence(const Verdict& v, const std::string& per) const;
};
OrderedJson compare_json(const CompareReport& report);

}  // namespace saltus
