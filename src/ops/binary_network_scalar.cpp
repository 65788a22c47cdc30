// A network's hidden tanh units and its error over rows of data: the specification.
#include "core/scalar_math.hpp"
#include "ops/passes.hpp"

namespace saltus::ops::scalar {

void tanh_unit(int n, float bias, float weight, float* z, float* sum) {
  for (int r = 0; r < n; ++r) {
    const double t = std::tanh(double{z[r]} + double{bias});
    z[r] = static_cast<float>(t);
    sum[r] = static_cast<float>(double{sum[r]} + double{weight} * t);
  }
}

double squared_errors(int n, const float* logit, const float* y, float factor, float* slope) {
  double sum = 0;
  for (int r = 0; r < n; ++r) {
    const double f = sigmoid(double{logit[r]}), miss = f - double{y[r]};
    sum += miss * miss;
    if (slope)
      slope[r] = static_cast<float>(double{factor} * miss * f * sigmoid(-double{logit[r]}));
  }
  for (int r = n; slope && r % kLanes != 0; ++r) slope[r] = 0;
  return sum;
}

UnitSlopes tanh_unit_slopes(int n, float weight, const float* slope, float* unit) {
  UnitSlopes sums;
  for (int r = 0; r < n; ++r) {
    const double t = double{unit[r]}, s = double{slope[r]};
    const double change = s * double{weight} * (1 - t * t);
    sums.bias += change;
    sums.weight += s * t;
    unit[r] = static_cast<float>(change);
  }
  return sums;
}

}  // namespace saltus::ops::scalar
