// Targets from callables that give log p and its gradient: of one state (Function), or of many at
// once (BatchFunction).
//
//   Function target(Domain::binary(10), [](std::span<const double> v, std::span<double> gradient) {
//     ...
//     return logp;
//   });
//
// v holds the values of the coordinates (-1/+1 for spins; the level's index for categorical ones).
// `gradient` is empty when it is not wanted; otherwise every entry must be written: one per
// coordinate, or, for a categorical domain, one per coordinate and level (the derivative with
// respect to the one-hot entries). On a two-level domain, samplers that work on a relaxation give
// values between the levels too. Several threads call the function at once.
//
//   BatchFunction target(Domain::spin(100), [&](const BatchCall<float>& call) {
//     network.forward(call.values, call.logp);
//     if (call.score) network.backward(call.values, call.score);
//   });
#pragma once

#include <functional>
#include <span>
#include <variant>

#include "saltus/target/target.hpp"

namespace saltus {

// One call of a batched callable: states in, log p and score out, in the precision T.
template <class T>
struct BatchCall {
  int rows;
  Rows<const Symbol> levels;  // level indices; null for points between the levels
  Rows<const T> values;       // the same as values; null where BatchOptions asks for none
  std::span<T> logp;          // to be written, one for each row
  Rows<T> score;              // to be written, unless null
};

struct BatchOptions {
  std::string name = "function";
  bool values = true;  // false: the callable reads `levels` alone
  int tile = 64;       // states that are best evaluated together; 0: few
};

class BatchFunction : public Target, public Relaxation {
 public:
  using Single = std::function<void(const BatchCall<float>&)>;
  using Double = std::function<void(const BatchCall<double>&)>;

  BatchFunction(Domain domain, Single callable, BatchOptions options = {})
      : domain_(std::move(domain)), callable_(std::move(callable)), options_(std::move(options)) {}
  BatchFunction(Domain domain, Double callable, BatchOptions options = {})
      : domain_(std::move(domain)), callable_(std::move(callable)), options_(std::move(options)) {}

  std::string name() const override { return options_.name; }
  const Domain& domain() const override { return domain_; }
  void evaluate(const At& at, Rows<const Symbol> x, double* logp, Rows<float> score) const override;
  void evaluate_exact(const At& at, Rows<const Symbol> x, double* logp,
                      Rows<double> score) const override;

  const Relaxation* relaxation() const override {
    return domain_.two_level() && options_.values ? this : nullptr;
  }
  void evaluate_relaxed(const At& at, Rows<const float> v, double* logp,
                        Rows<float> gradient) const override;

  int preferred_tile() const override {
    return options_.tile > 0 ? options_.tile : Target::preferred_tile();
  }

 private:
  template <class X, class S>
  void call(const At& at, Rows<const X> x, double* logp, Rows<S> score) const;
  template <class T, class X>
  Rows<const T> values_of(const At& at, Rows<const X> x) const;

  Domain domain_;
  std::variant<Single, Double> callable_;
  BatchOptions options_;
};

class Function final : public BatchFunction {
 public:
  using Callable = std::function<double(std::span<const double> v, std::span<double> gradient)>;
  Function(Domain domain, Callable callable, std::string name = "function");
};

}  // namespace saltus
