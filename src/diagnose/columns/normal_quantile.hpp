// The inverse of the normal distribution function.
#pragma once

namespace saltus {

// The z with Phi(z) = p, accurate to about 1e-15 (relative in the tails); 0 and 1 give -+infinity.
double normal_quantile(double p);

}  // namespace saltus
