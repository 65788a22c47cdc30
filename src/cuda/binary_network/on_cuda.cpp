#include <mutex>
#include <optional>

#include "cuda/binary_network/energy.hpp"
#include "cuda/chains/step_kernels.hpp"
#include "saltus/core/error.hpp"
#include "saltus/cuda/cuda_target.hpp"

namespace saltus::cuda {
namespace {

// Networks at rows of data that do not change from call to call.
struct Predictor {
  RegressionRows at;
  BinaryNetworkEnergy energy;
  std::unique_ptr<WorkStream> stream = make_work_stream();
  DeviceArray<Symbol> levels = {};
  DeviceArray<float> values = {}, f = {};

  Predictor(const RegressionRows& rows, const BinaryNetworkOptions& options)
      : at(rows), energy(rows, options, BinaryNetworkEnergy::Way::products) {}

  void predict(Rows<const Symbol> x, Rows<float> out) {
    const std::size_t all = size(x.rows) * size(x.cols);
    energy.prepare(x.rows);
    levels.grow(all), values.grow(all), f.grow(size(x.rows) * at.y.size());
    levels.put_rows(stream->get(), x);
    levels_to_values(stream->get(), {x.cols, 0, 1}, x.rows, levels.data(), values.data());
    energy.predict(stream->get(), values.data(), x.rows, f.data());
    f.get_rows(stream->get(), Rows<float>{out.data, x.rows, at.rows(), out.stride});
    stream->wait();
  }
};

class CudaBinaryNetwork final : public CudaTarget, public NetworkPredictions {
 public:
  explicit CudaBinaryNetwork(const BinaryNetwork& network)
      : CudaTarget(network.name(), network.domain(), network.shape(),
                   std::make_shared<BinaryNetworkEnergy>(network.rows(), network.options())),
        options_(network.options()),
        features_(network.rows().features) {
    options_.batch = 0;
  }

  void predict(Rows<const Symbol> x, const RegressionRows& at, Rows<float> out,
               ThreadPool&) const override {
    if (at.features != features_) {
      throw DataError("data with " + std::to_string(at.features) +
                      " features do not fit a network of " + std::to_string(features_));
    }
    const std::lock_guard held(mutex_);
    if (!predictor_ || predictor_->at.x != at.x || predictor_->at.y.size() != at.y.size()) {
      predictor_.emplace(at, options_);
    }
    predictor_->predict(x, out);
  }

 private:
  BinaryNetworkOptions options_;
  int features_;
  mutable std::mutex mutex_;
  mutable std::optional<Predictor> predictor_;
};

}  // namespace

std::unique_ptr<Target> binary_network_on_cuda(const BinaryNetwork& network) {
  return std::make_unique<CudaBinaryNetwork>(network);
}

}  // namespace saltus::cuda
