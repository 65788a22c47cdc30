// The rule by which a number or a statement of the paper is compared with ours: one for all
// experiments. docs/reproduce.md has it in words ("Verdicts").
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace saltus::reproduce {

// A number measured in several independent runs.
struct Measured {
  double mean = 0;
  double sd = 0;                     // of one run; 0 for a single one
  std::optional<double> error = {};  // of the mean; none for a single run
  int runs = 1;

  // Half the width of the 95 % interval of the mean, by Student's t; none for a single run.
  std::optional<double> margin() const;
};

Measured measured(std::span<const double> runs);

enum class Verdict {
  agrees,
  differs,
  cannot_hold,    // the published statement contradicts mathematics; the note says why
  undecided,      // the errors are too large, or ours cannot be compared; the note says why
  not_published,  // the paper has no number or statement to compare with
};

inline constexpr std::array kVerdicts = {Verdict::agrees, Verdict::differs, Verdict::cannot_hold,
                                         Verdict::undecided, Verdict::not_published};

// A number as the paper prints it.
struct Printed {
  double value;
  std::optional<double> deviation = {};  // after its "±", or what stands for it
  double unit = 0;                       // of its last digit: numbers may be rounded or cut off
};

// Two-sided: it agrees when |ours - paper| is at most
//     unit + sqrt((t error)^2 + (1.96 deviation)^2),
// with our standard error and Student's t of our runs. The paper does not say of how many runs its
// deviations are, so that one is taken as the error of its number. Where none is printed, the
// paper's number counts as one more run of ours: unit + t sd sqrt(1 + 1/n). A single run of ours
// decides nothing.
Verdict judge_number(const Measured& ours, const Printed& paper);

// What the paper says of a difference or of another number.
enum class Sign { negative, positive };

// Agrees where the two-sided 95 % interval of ours has that sign alone, differs where it has the
// other one alone.
Verdict judge_sign(const Measured& ours, Sign claimed);
// The same for all comparisons of one statement, with Holm's correction.
std::vector<Verdict> judge_signs(std::span<const Measured> ours, Sign claimed);

// "Similar": agrees where the 95 % interval lies within low to high, differs where it lies outside.
Verdict judge_similar(const Measured& ours, double low, double high);

// For a number that is known as an interval: agrees when the paper's lies at most `tolerance`
// outside.
Verdict judge_interval(double low, double high, double paper, double tolerance);

// ---- Statistics

// P(|T| > |t|) for Student's t.
double student_p(double t, int degrees);
// The t that |T| exceeds with probability 0.05.
double student_t95(int degrees);
// That the mean is not 0, two-sided. NaN for a single run; 0 where all runs are the same.
double p_value(const Measured& m);
// Holm's adjusted p-values, in the order given. NaN stays NaN and does not count.
std::vector<double> holm(std::span<const double> p);

}  // namespace saltus::reproduce
