#include "cuda/binary_network/on_cuda.hpp"

#include <mutex>

#include "cuda/binary_network/energy.hpp"
#include "cuda/chains/step_kernels.hpp"
#include "saltus/core/error.hpp"
#include "saltus/cuda/cuda_target.hpp"

namespace saltus::cuda {
namespace {

// Networks at rows of data that do not change from call to call.
class Predictor {
 public:
  Predictor(const RegressionRows& at, const BinaryNetworkOptions& options)
      : at_(at),
        dim_(BinaryNetworkShape{at.features, options.hidden}.dim()),
        energy_(at, options, BinaryNetworkEnergy::Way::products) {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
  }
  ~Predictor() { cudaStreamDestroy(stream_); }
  Predictor(const Predictor&) = delete;
  Predictor& operator=(const Predictor&) = delete;

  bool is_for(const RegressionRows& at) const {
    return at.x == at_.x && at.y.size() == at_.y.size();
  }

  void predict(Rows<const Symbol> x, Rows<float> out) {
    const auto rows = static_cast<std::size_t>(x.rows), dim = static_cast<std::size_t>(dim_),
               columns = at_.y.size();
    energy_.prepare(x.rows);
    levels_.grow(rows * dim);
    values_.grow(rows * dim);
    f_.grow(rows * columns);
    check(cudaMemcpy2DAsync(levels_.data(), dim * sizeof(Symbol), x.data,
                            static_cast<std::size_t>(x.stride) * sizeof(Symbol),
                            dim * sizeof(Symbol), rows, cudaMemcpyHostToDevice, stream_),
          "cudaMemcpy2DAsync");
    levels_to_values(stream_, {dim_, 0, 1}, x.rows, levels_.data(), values_.data());
    energy_.predict(stream_, values_.data(), x.rows, f_.data());
    check(cudaMemcpy2DAsync(out.data, static_cast<std::size_t>(out.stride) * sizeof(float),
                            f_.data(), columns * sizeof(float), columns * sizeof(float), rows,
                            cudaMemcpyDeviceToHost, stream_),
          "cudaMemcpy2DAsync");
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }

 private:
  RegressionRows at_;
  int dim_;
  BinaryNetworkEnergy energy_;
  cudaStream_t stream_ = nullptr;
  DeviceArray<Symbol> levels_;
  DeviceArray<float> values_, f_;
};

class CudaBinaryNetwork final : public CudaTarget, public NetworkPredictions {
 public:
  explicit CudaBinaryNetwork(const BinaryNetwork& network)
      : CudaTarget(network.name(), network.domain(), network.shape(),
                   std::make_shared<BinaryNetworkEnergy>(network.rows(), network.options())),
        options_(network.options()),
        features_(network.rows().features) {}

  void predict(Rows<const Symbol> x, const RegressionRows& at, Rows<float> out,
               ThreadPool&) const override {
    if (at.features != features_) {
      throw DataError("data with " + std::to_string(at.features) +
                      " features do not fit a network of " + std::to_string(features_));
    }
    const std::lock_guard held(mutex_);
    if (!predictor_ || !predictor_->is_for(at)) {
      predictor_ = std::make_unique<Predictor>(
          at, BinaryNetworkOptions{options_.hidden, options_.temperature, 0});
    }
    predictor_->predict(x, out);
  }

 private:
  BinaryNetworkOptions options_;
  int features_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<Predictor> predictor_;
};

}  // namespace

std::unique_ptr<Target> binary_network_on_cuda(const BinaryNetwork& network) {
  return std::make_unique<CudaBinaryNetwork>(network);
}

}  // namespace saltus::cuda
