#include "cuda/lattice/chains.hpp"

#include "cuda/chains/served.hpp"
#include "cuda/lattice/energy.hpp"
#include "cuda/lattice/unpack.hpp"
#include "saltus/core/scratch.hpp"
#include "saltus/cuda/cuda_target.hpp"
#include "saltus/sampler/dlp.hpp"

namespace saltus::cuda {
namespace {

// The sampler's kernel here: a discrete Langevin proposal with one penalty.
const Dlp* as_langevin(const Sampler& sampler) {
  const auto* dlp = dynamic_cast<const Dlp*>(&sampler);
  const bool plain = dlp && dlp->options().balancing_exponent == 0.5 && !dlp->options().cycle;
  return plain && dlp->penalty().size() == 1 ? dlp : nullptr;
}

// Of a base that knows no differences between states the law of a site has as few classes.
bool is_even(const DeviceChains::Law& law) {
  return law.beta == 1 || law.base->is_uniform();
}

class LatticeOnCuda final : public CudaTarget {
 public:
  explicit LatticeOnCuda(const IsingLattice& lattice)
      : CudaTarget(lattice.name(), lattice.domain(), lattice.shape(),
                   std::make_shared<LatticeEnergy>(lattice.model())),
        model_(lattice.model()) {}

  std::unique_ptr<DeviceChains> make_chains(int chains, std::uint64_t seed) const override {
    const auto general = [this, chains, seed] { return CudaTarget::make_chains(chains, seed); };
    const LatticeShape shape(model_.shape[0], model_.shape[1], model_.periodic);
    if (!lattice_fits(shape)) return general();
    return std::make_unique<LatticeChains>(model_, chains, seed, general);
  }

 private:
  LatticeModel model_;
};

}  // namespace

std::unique_ptr<Target> lattice_on_cuda(const IsingLattice& target) {
  return std::make_unique<LatticeOnCuda>(target);
}

LatticeChains::LatticeChains(const LatticeModel& model, int chains, std::uint64_t seed,
                             MakeGeneral general)
    : target_(model),
      shape_(model.shape[0], model.shape[1], model.periodic),
      chains_(chains),
      seed_(seed),
      make_general_(std::move(general)),
      stream_(make_work_stream()),
      states_(static_cast<std::size_t>(chains) * static_cast<std::size_t>(shape_.words)),
      records_{LatticeRecords(shape_, chains), LatticeRecords(shape_, chains)} {
  check(cudaStreamCreateWithFlags(&copies_, cudaStreamNonBlocking), "cudaStreamCreate");
}

LatticeChains::~LatticeChains() {
  cudaStreamSynchronize(stream_->get());
  cudaStreamSynchronize(copies_);
  cudaStreamDestroy(copies_);
}

bool LatticeChains::serves(const Sampler& sampler) const {
  return as_langevin(sampler) || serve(sampler).kernel;
}

void LatticeChains::count_chains_from(std::uint32_t first_chain) {
  first_chain_ = first_chain;
  if (general_) general_->count_chains_from(first_chain);
}

void LatticeChains::put_states(Rows<const Symbol> states) {
  std::vector<std::uint32_t> bits(states_.size());
  const auto words = static_cast<std::size_t>(shape_.words);
  for (int r = 0; r < chains_; ++r) {
    pack_bits(states[r], shape_.sites, bits.data() + static_cast<std::size_t>(r) * words);
  }
  states_.put(stream_->get(), bits);
  stream_->wait();
  states_there_ = false;
}

void LatticeChains::get_states(Rows<Symbol> states) const {
  if (states_there_) return general_->get_states(states);
  std::vector<std::uint32_t> bits(states_.size());
  states_.get(stream_->get(), bits);
  stream_->wait();
  const auto words = static_cast<std::size_t>(shape_.words);
  for (int r = 0; r < chains_; ++r) {
    unpack_bits(bits.data() + static_cast<std::size_t>(r) * words, shape_.sites, states[r]);
  }
}

void LatticeChains::evaluate(std::uint64_t step, std::span<double> logp) {
  if (states_there_) return general_->evaluate(step, logp);
  const RowBuffer<Symbol> states(chains_, shape_.sites);
  get_states(states.view());
  Scratch scratch;
  target_.evaluate({seed_, step, scratch}, states.view(), logp.data(), {});
}

DeviceChains& LatticeChains::general(std::uint64_t step) {
  if (states_there_) return *general_;
  const RowBuffer<Symbol> states(chains_, shape_.sites);
  get_states(states.view());
  if (!general_) general_ = make_general_();
  general_->count_chains_from(first_chain_);
  general_->put_states(states.view());
  std::vector<double> logp(static_cast<std::size_t>(chains_));
  general_->evaluate(step, logp);
  states_there_ = true;
  return *general_;
}

void LatticeChains::settle_here() {
  if (!states_there_) return;
  const RowBuffer<Symbol> states(chains_, shape_.sites);
  general_->get_states(states.view());
  put_states(states.view());
}

const LatticeLaw& LatticeChains::law_at(float penalty, double beta) {
  const LatticeParameters wanted{target_.model().a, target_.model().b, penalty, beta};
  if (law_of_ != wanted) law_ = lattice_law(shape_, wanted), law_of_ = wanted;
  return law_;
}

void LatticeChains::advance(const Sampler& sampler, const Law& law, std::uint64_t step,
                            std::uint64_t steps, StepObserver& observer) {
  const Dlp* dlp = as_langevin(sampler);
  if (!dlp || !is_even(law)) return general(step).advance(sampler, law, step, steps, observer);
  settle_here();
  const LatticeModel& model = target_.model();
  const bool adjust = dlp->options().adjust;
  const RowBuffer<Symbol> zeros(1, shape_.sites);  // any state
  const LatticeRecords::Law recorded{
      &model, {law.beta}, law.beta == 1 ? 0 : law.base->log_probability(zeros.view()[0]), adjust};
  LatticeSteps block{shape_,         law_at(dlp->penalty()[0], law.beta),
                     seed_,          step,
                     first_chain_,   chains_,
                     states_.data(), 0,
                     nullptr,        nullptr,
                     nullptr,        nullptr};
  LatticeRecords* before = nullptr;  // to be told of
  Tile tile;
  tile.first_chain = first_chain_;
  tile.step = step;
  for (std::uint64_t done = 0; done < steps;) {
    LatticeRecords& records = records_[before == records_.data()];
    const std::uint64_t planned = records.plan(stream_->get(), observer, done, steps - done);
    block.step = step + done;
    records.enter(block);
    launch_lattice(stream_->get(), block, model.b != 0, adjust);
    records.fetch(stream_->get(), copies_);
    if (before) before->tell(tile, recorded, observer);
    before = &records;
    tile.step = step + done;
    done += planned;
  }
  if (before) before->tell(tile, recorded, observer);
  const std::uint64_t all = steps * static_cast<std::uint64_t>(chains_);
  evaluations_.gradient += all;
  if (adjust) evaluations_.logp += all;
}

void LatticeChains::anneal(const Sampler& sampler, std::uint64_t step, const Path& path,
                           const Annealed& out) {
  general(step).anneal(sampler, step, path, out);
}

Evaluations LatticeChains::evaluations() const {
  Evaluations all = evaluations_;
  if (!general_) return all;
  const Evaluations there = general_->evaluations();
  all.logp += there.logp, all.gradient += there.gradient, all.local += there.local;
  return all;
}

void LatticeChains::reset_evaluations() {
  evaluations_ = {};
  if (general_) general_->reset_evaluations();
}

}  // namespace saltus::cuda
