#include "saltus/target/target.hpp"

namespace saltus {

void Target::evaluate_and_cache(const At& at, Rows<const Symbol> x, double* logp, Rows<float> score,
                                Rows<float>) const {
  evaluate(at, x, logp, score);
}

void Target::evaluate_near(const At& at, const Evaluated&, Rows<const Symbol> y, double* logp,
                           Rows<float> score, Rows<float> cache) const {
  evaluate_and_cache(at, y, logp, score, cache);
}

void Target::evaluate_exact(const At& at, Rows<const Symbol> x, double* logp,
                            Rows<double> score) const {
  if (!score) return evaluate(at, x, logp, {});
  const RowBuffer<float> narrow(x.rows, domain().score_size());
  evaluate(at, x, logp, narrow.view());
  for (int r = 0; r < x.rows; ++r) {
    for (int i = 0; i < score.cols; ++i) score[r][i] = double{narrow.view()[r][i]};
  }
}

double logp_of(const Target& target, const Symbol* x, double* score) {
  Scratch scratch;
  const Domain& domain = target.domain();
  const int dim = domain.dim(), scores = domain.score_size();
  double logp = 0;
  target.evaluate_exact({0, 0, scratch}, {x, 1, dim, dim}, &logp,
                        score ? Rows<double>{score, 1, scores, scores} : Rows<double>{});
  return logp;
}

}  // namespace saltus
