#include <torch/csrc/autograd/grad_mode.h>

#include <cmath>

#include "saltus/core/error.hpp"
#include "saltus/core/parallel.hpp"
#include "torch/libtorch.hpp"
#include "torch/module.hpp"
#include "torch/resnet_target.hpp"
#ifdef SALTUS_TORCH_ON_CUDA
#include "torch/cuda_resnet_update.hpp"
#endif

namespace saltus {
namespace {

// Rows whose gradient is computed at once on the processor. Threads take such parts, and their
// gradients are added in the order of the rows: the same bits for any number of threads.
constexpr int kPart = 16;

class ResnetLearning final : public LearningNetwork {
 public:
  ResnetLearning(const ResnetEnergy& start, const NetworkLearning& options,
                 const DeviceChoice& choice)
      : options_(options),
        device_(tensor_device(choice)),
        current_(std::make_shared<const ResnetTensors>(start, device_)),
        averaged_(std::make_shared<const ResnetTensors>(start, device_)),
        adam_(static_cast<std::size_t>(current_->flat.numel()), options.adam),
        target_(make_resnet_target(current_, choice)),
        averaged_target_(make_resnet_target(averaged_, choice)),
        pool_(device_.is_cpu() ? options.threads : 1) {
    const auto fraction = [](double b) { return b >= 0 && b < 1; };
    if (!fraction(options.average_decay) || !(options.energy_penalty >= 0)) {
      throw UsageError(
          "learning needs an average_decay from 0 to below 1 and an energy penalty of at least 0");
    }
#ifdef SALTUS_TORCH_ON_CUDA
    if (device_.is_cuda()) {
      on_cuda_ = std::make_unique<CudaResnetUpdate>(current_, averaged_, options_);
    }
#endif
  }

  const Target& target() const override {
    return *target_;
  }
  const Target& averaged() const override {
    return *averaged_target_;
  }

  Means update(Rows<const Symbol> data, Rows<const Symbol> samples, double rate) override {
    if (data.rows < 1 || samples.rows < 1) {
      throw DataError("a step of learning needs rows of data and of samples");
    }
#ifdef SALTUS_TORCH_ON_CUDA
    if (on_cuda_) return update_on_cuda(data, samples, rate);
#endif
    std::vector<Part> parts;
    add_parts(data, -1.0 / data.rows, parts);
    add_parts(samples, 1.0 / samples.rows, parts);
    pool_.for_each(static_cast<int>(parts.size()),
                   [&](int p, int) { differentiate(parts[static_cast<std::size_t>(p)]); });
    Means means{mean_base(data), mean_base(samples)};
    at::Tensor gradient = parts.front().gradient;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      (parts[p].weight < 0 ? means.data : means.samples) +=
          std::abs(parts[p].weight) * parts[p].sum;
      if (p > 0) gradient.add_(parts[p].gradient);
    }
    check_means(means);
    step(gradient, rate);
    return means;
  }

  std::vector<float> parameters() const override {
    return to_host(current_->flat);
  }
  std::vector<float> averaged_parameters() const override {
    return to_host(averaged_->flat);
  }

  void save(ByteWriter& out) const override {
    for (const at::Tensor& t : {current_->flat, averaged_->flat}) put_tensor(out, t);
#ifdef SALTUS_TORCH_ON_CUDA
    if (on_cuda_) return on_cuda_->save(out);
#endif
    adam_.save(out);
  }

  void restore(ByteReader& in) override {
    for (const at::Tensor& t : {current_->flat, averaged_->flat}) get_tensor(in, t);
#ifdef SALTUS_TORCH_ON_CUDA
    on_cuda_ ? on_cuda_->restore(in) : adam_.restore(in);
#else
    adam_.restore(in);
#endif
    publish();
  }

 private:
#ifdef SALTUS_TORCH_ON_CUDA
  Means update_on_cuda(Rows<const Symbol> data, Rows<const Symbol> samples, double rate) {
    const std::vector<float> f = (*on_cuda_)(data, samples, rate);
    Means means{mean_base(data), mean_base(samples)};
    for (int r = 0; r < data.rows; ++r)
      means.data += double{f[static_cast<std::size_t>(r)]} / data.rows;
    for (int r = 0; r < samples.rows; ++r) {
      means.samples += double{f[static_cast<std::size_t>(data.rows + r)]} / samples.rows;
    }
    check_means(means);
    current_->changed();
    averaged_->changed();
    return means;
  }
#endif

  // The base term has no parameters, but counts in log p.
  double mean_base(Rows<const Symbol> rows) const {
    double sum = 0;
    for (int r = 0; r < rows.rows; ++r) {
      for (int i = 0; i < rows.cols; ++i) {
        if (rows[r][i]) sum += double{current_->base_logit[static_cast<std::size_t>(i)]};
      }
    }
    return current_->base_constant + sum / rows.rows;
  }

  static void check_means(const Means& means) {
    if (std::isfinite(means.data) && std::isfinite(means.samples)) return;
    throw DataError("log p is not finite: the network has diverged");
  }

  struct Part {
    Rows<const Symbol> rows;
    double weight;   // of each row's log p in the loss
    double sum = 0;  // of f
    at::Tensor gradient = {};
  };

  void add_parts(Rows<const Symbol> rows, double weight, std::vector<Part>& parts) const {
    const int size = device_.is_cpu() ? kPart : rows.rows;
    for (int first = 0; first < rows.rows; first += size) {
      parts.push_back(
          {{rows[first], std::min(size, rows.rows - first), rows.cols, rows.stride}, weight});
    }
  }

  void differentiate(Part& part) const {
    use_one_thread();
    const Domain& domain = target_->domain();
    at::Tensor x = at::empty({part.rows.rows, domain.dim()}, at::kFloat);
    write_values(domain, part.rows, x.data_ptr<float>());
    const double penalty = options_.energy_penalty * std::abs(part.weight);
    const Differentiated d = saltus::differentiate(
        *current_, x.to(device_),
        [&](const at::Tensor& f) { return part.weight * f.sum() + penalty * f.square().sum(); });
    part.sum = d.f.sum(at::kDouble).item<double>();
    part.gradient = d.gradient;
  }

  // On the processor, wherever the parameters are.
  void step(const at::Tensor& gradient, double rate) {
    const at::NoGradGuard no_gradients;
    const auto numbers = [](const at::Tensor& t) {
      return std::span(t.data_ptr<float>(), static_cast<std::size_t>(t.numel()));
    };
    const at::Tensor here = current_->flat.cpu(), down = gradient.cpu();
    adam_.step(numbers(here), numbers(down), rate);
    current_->flat.copy_(here);
    averaged_->flat.mul_(options_.average_decay).add_(current_->flat, 1 - options_.average_decay);
    publish();
  }

  void publish() {
    current_->changed();
    averaged_->changed();
    // Chains on a GPU have a stream of their own; a copy to the host waits for this one.
    if (!device_.is_cpu()) averaged_->flat.narrow(0, 0, 1).to(at::kCPU);
  }

  NetworkLearning options_;
  at::Device device_;
  std::shared_ptr<const ResnetTensors> current_, averaged_;
  Adam adam_;
  std::unique_ptr<Target> target_, averaged_target_;
  ThreadPool pool_;
#ifdef SALTUS_TORCH_ON_CUDA
  std::unique_ptr<CudaResnetUpdate> on_cuda_;
#endif
};

}  // namespace

std::unique_ptr<LearningNetwork> LibtorchModule::learn_resnet(ResnetEnergy start,
                                                              const NetworkLearning& options,
                                                              const DeviceChoice& choice) const {
  return std::make_unique<ResnetLearning>(start, options, choice);
}

}  // namespace saltus
