#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/script.h>

#include <cmath>
#include <fstream>
#include <vector>

#include "saltus/core/error.hpp"
#include "torch/libtorch.hpp"
#include "torch/module.hpp"
#include "torch/network_target.hpp"
#ifdef SALTUS_TORCH_ON_CUDA
#include "torch/cuda_energies.hpp"
#endif

namespace saltus {
namespace {

std::string shape_text(c10::IntArrayRef shape) {
  std::string text = "[";
  for (const std::int64_t n : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(n);
  return text + "]";
}

class ScriptTarget final : public NetworkTarget {
 public:
  ScriptTarget(const std::filesystem::path& file, const Domain& domain, at::Device device)
      : NetworkTarget(domain, device), file_(file.string()), script_(load(file, device)) {
    probe();
  }

  std::string name() const override { return "torch"; }
  std::string origin() const override { return file_; }

  at::Tensor network(const at::Tensor& x) const override {
    // Without optimisation by what earlier calls were like: the same input gives the same bits.
    const torch::jit::GraphOptimizerEnabledGuard as_written(false);
    return method_({x}).toTensor();
  }

 private:
  static torch::jit::Module load(const std::filesystem::path& file, at::Device device) {
    // libtorch's own message about a file that is not there is hard to read.
    if (std::error_code ignored; std::filesystem::is_directory(file, ignored) ||
                                 !std::ifstream(file, std::ios::binary).is_open()) {
      throw FileError("cannot open the script " + file.string(), false);
    }
    try {
      torch::jit::Module script = torch::jit::load(file.string(), device);
      script.eval();
      for (at::Tensor parameter : script.parameters()) parameter.requires_grad_(false);
      if (!script.find_method("forward")) {
        throw DataError(file.string() + ": the script has no method forward");
      }
      return script;
    } catch (const DataError&) {
      throw;
    } catch (const std::exception& error) {
      throw DataError(file.string() +
                      ": not a TorchScript file, which torch.jit.script(...).save makes (" +
                      words_of(error) + ")");
    }
  }

  [[noreturn]] void refuse(const std::string& why) const { throw DataError(file_ + ": " + why); }

  // Two states, with the lowest and the highest levels.
  at::Tensor probe_states() const {
    const int dim = domain().dim();
    const RowBuffer<Symbol> x(2, dim);
    for (int i = 0; i < dim; ++i) x.view()[1][i] = static_cast<Symbol>(domain().levels(i) - 1);
    std::vector<std::int64_t> shape{2, dim};
    if (domain().kind() == Domain::Kind::categorical) shape.push_back(domain().uniform_levels());
    at::Tensor values = at::empty(shape, at::kFloat);
    write_values(domain(), x.view(), values.data_ptr<float>());
    return values;
  }

  at::Tensor call(const at::Tensor& x) const {
    torch::jit::IValue out;
    try {
      const torch::jit::GraphOptimizerEnabledGuard as_written(false);
      out = method_({x});
    } catch (const std::exception& error) {
      refuse("the script does not take states of shape " + shape_text(x.sizes()) + ": " +
             words_of(error));
    }
    if (!out.isTensor()) {
      refuse("the script returned " + out.tagKind() + "; expected a tensor, log p of each state");
    }
    at::Tensor logp = out.toTensor();
    const std::vector<std::int64_t> expected{x.size(0)};
    if (logp.sizes() != c10::IntArrayRef(expected)) {
      refuse("for states of shape " + shape_text(x.sizes()) +
             " the script returned a tensor of shape " + shape_text(logp.sizes()) + "; expected " +
             shape_text(expected) + ", log p of each state");
    }
    if (!at::isFloatingType(logp.scalar_type())) {
      refuse(std::string("the script returned numbers of type ") +
             c10::toString(logp.scalar_type()) + "; expected floating-point numbers");
    }
    return logp;
  }

  at::Tensor checked_gradient(const at::Tensor& logp, const at::Tensor& x) const {
    if (!logp.requires_grad()) {
      refuse(
          "the script's log p has no gradient by the states: it must be computed from them by "
          "differentiable operations, without detach, rounding or comparison alone");
    }
    try {
      return torch::autograd::grad({logp.sum()}, {x})[0];
    } catch (const std::exception& error) {
      refuse("the script's log p could not be differentiated: " + words_of(error));
    }
  }

  void probe() const {
    use_one_thread();
    const at::AutoGradMode gradients(true);
    const at::Tensor x = probe_states().to(device()).requires_grad_(true);
    const at::Tensor logp = call(x), score = checked_gradient(logp, x);
    for (int r = 0; r < 2; ++r) {
      const std::string state = r == 0 ? "the lowest levels" : "the highest levels";
      const double value = logp[r].item<double>();
      if (!std::isfinite(value)) {
        refuse("log p of the state with " + state + " is " + std::to_string(value) +
               "; expected a finite number");
      }
      if (!at::isfinite(score[r]).all().item<bool>()) {
        refuse("the gradient at the state with " + state + " is not finite");
      }
      check_alone(x.detach().slice(0, r, r + 1), value, state);
    }
    // Rounding has a gradient, zero everywhere.
    if (!score.any().item<bool>() && logp[0].item<double>() != logp[1].item<double>()) {
      refuse(
          "the gradient of log p is 0 at the states with the lowest and the highest levels, whose "
          "log p differ; expected one that leads from state to state (rounding has none)");
    }
  }

  // Alone and beside another state: the same, but for rounding. Chance may give the same once.
  void check_alone(const at::Tensor& x, double value, const std::string& state) const {
    for (int k = 0; k < 8; ++k) {
      const double alone = call(x)[0].item<double>();
      if (std::abs(alone - value) <= 1e-3 * std::max(1.0, std::abs(value))) continue;
      refuse("log p of the state with " + state + " is " + std::to_string(value) +
             " beside another state and " + std::to_string(alone) +
             " alone; expected a function of the state alone");
    }
  }

  std::string file_;
  torch::jit::Module script_;
  torch::jit::Method method_ = script_.get_method("forward");
};

}  // namespace

std::unique_ptr<Target> LibtorchModule::script(const std::filesystem::path& file,
                                               const Domain& domain,
                                               const DeviceChoice& choice) const {
  if (domain.unbounded() || domain.uniform_levels() == 0) {
    throw UsageError("a script's coordinates must all have the same number of levels");
  }
  if (choice.device == Device::cuda && choice.precision == Precision::half) {
    throw UsageError("a script has the precision of its own operations: single or tf32, not half");
  }
  auto script = std::make_unique<ScriptTarget>(file, domain, tensor_device(choice));
#ifdef SALTUS_TORCH_ON_CUDA
  if (choice.device == Device::cuda && domain.two_level()) {
    return make_cuda_script(domain,
                            [shared = std::shared_ptr<const ScriptTarget>(std::move(script))](
                                const at::Tensor& x) { return shared->network(x); });
  }
#endif
  return script;
}

}  // namespace saltus
