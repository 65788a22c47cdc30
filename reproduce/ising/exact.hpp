// Exact means of the 5 x 5 Ising model on a torus, log p = a s'Ws + b sum s, by transfer matrices.
#pragma once

namespace saltus::reproduce {

// The mean of a spin.
double ising_mean(double a, double b);
// Its mean under the stationary law of DULA, pi(s) prod_i (1 + exp(l_i(s))) up to a constant, with
// l_i = -s_i (2 a sum of neighbours + b) - 1 / (2 alpha) the log-odds of a flip.
double ising_dula_mean(double a, double b, double alpha);
// How many coordinates DULA and DMALA propose to change, on average over the target.
double ising_proposed_changes(double a, double b, double alpha);

}  // namespace saltus::reproduce
