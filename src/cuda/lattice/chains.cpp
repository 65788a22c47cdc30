#include "cuda/lattice/chains.hpp"

#include <algorithm>

#include "cuda/chains/served.hpp"
#include "cuda/lattice/energy.hpp"
#include "cuda/lattice/unpack.hpp"
#include "saltus/core/scratch.hpp"
#include "saltus/cuda/cuda_target.hpp"
#include "saltus/sampler/dlp.hpp"
#include "saltus/sampler/gibbs.hpp"

namespace saltus::cuda {
namespace {

class LatticeOnCuda final : public CudaTarget {
 public:
  explicit LatticeOnCuda(const IsingLattice& lattice)
      : CudaTarget(lattice.name(), lattice.domain(), lattice.shape(),
                   std::make_shared<LatticeEnergy>(lattice.model())),
        lattice_(lattice.model()),
        shape_(lattice_.shape()[0], lattice_.shape()[1], lattice_.model().periodic) {}

  // Where a Gibbs sampler draws here.
  const LocalMoves* local_moves() const override { return &lattice_; }
  const GibbsSweeps* gibbs_sweeps() const override { return &lattice_; }
  bool sweeps_there() const override { return lattice_fits(shape_) && lattice_.groups() > 0; }

  std::unique_ptr<DeviceChains> make_chains(int chains, std::uint64_t seed) const override {
    const auto general = [this, chains, seed] { return CudaTarget::make_chains(chains, seed); };
    if (!lattice_fits(shape_)) return general();
    return std::make_unique<LatticeChains>(lattice_.model(), chains, seed, general);
  }

 private:
  IsingLattice lattice_;
  LatticeShape shape_;
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

std::optional<LatticeChains::Native> LatticeChains::native(const Sampler& sampler,
                                                           const Independent* base) const {
  if (base && !base->is_uniform()) return std::nullopt;
  if (const auto* dlp = dynamic_cast<const Dlp*>(&sampler)) {
    const DlpOptions& o = dlp->options();
    if (o.balancing_exponent != 0.5 || o.cycle || dlp->penalty().size() != 1) return std::nullopt;
    return Native{o.adjust ? LatticeSampler::dmala : LatticeSampler::dula, dlp->penalty()[0]};
  }
  const auto* gibbs = dynamic_cast<const Gibbs*>(&sampler);
  const bool sweeps = gibbs && gibbs->options().scan == GibbsOptions::Scan::colours;
  return sweeps && target_.groups() > 0 ? std::optional(Native{LatticeSampler::gibbs})
                                        : std::nullopt;
}

bool LatticeChains::serves(const Sampler& sampler, const Independent* base) const {
  return native(sampler, base) || serve(sampler).kernel;
}

double LatticeChains::log_of(const Independent* base) const {
  if (!base) return 0;
  const RowBuffer<Symbol> zeros(1, shape_.sites);
  return base->log_probability(zeros.view()[0]);
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

const LatticeLaw& LatticeChains::law_at(const Native& native, double beta) {
  const LatticeModel& model = target_.model();
  const LatticeParameters wanted{native.sampler, model.a, model.b, native.penalty, beta};
  if (law_of_ != wanted) law_ = lattice_law(shape_, wanted), law_of_ = wanted;
  return law_;
}

void LatticeChains::run(const Native& native, double beta, const LatticeRecords::Law& recorded,
                        std::uint64_t step, std::uint64_t steps, StepObserver& observer) {
  const cudaStream_t stream = stream_->get();
  LatticeSteps block{shape_,         law_at(native, beta),
                     seed_,          step,
                     first_chain_,   chains_,
                     states_.data(), 0,
                     nullptr,        nullptr,
                     nullptr,        nullptr};
  LatticeRecords* before = nullptr;  // to be told of
  Tile tile;
  tile.first_chain = first_chain_;
  for (std::uint64_t done = 0; done < steps;) {
    LatticeRecords& records = records_[before == records_.data()];
    const std::uint64_t planned = records.plan(stream, observer, done, steps - done);
    block.step = step + done;
    records.enter(block);
    if (native.sampler == LatticeSampler::gibbs) {
      launch_gibbs(stream, block);
    } else {
      launch_langevin(stream, block, law_of_->field(), native.sampler == LatticeSampler::dmala);
    }
    records.fetch(stream, copies_);
    if (before) before->tell(tile, recorded, observer);
    before = &records;
    tile.step = step + done;
    done += planned;
  }
  if (before) before->tell(tile, recorded, observer);
  const std::uint64_t all = steps * static_cast<std::uint64_t>(chains_);
  if (native.sampler == LatticeSampler::gibbs) {
    evaluations_.local += all * static_cast<std::uint64_t>(shape_.sites);
  } else {
    evaluations_.gradient += all;
    if (native.sampler == LatticeSampler::dmala) evaluations_.logp += all;
  }
}

void LatticeChains::advance(const Sampler& sampler, const Law& law, std::uint64_t step,
                            std::uint64_t steps, StepObserver& observer) {
  const Independent* base = law.beta == 1 ? nullptr : law.base;
  const std::optional<Native> here = native(sampler, base);
  if (!here) return general(step).advance(sampler, law, step, steps, observer);
  settle_here();
  run(*here, law.beta, {&target_.model(), {law.beta}, log_of(base), here->sampler}, step, steps,
      observer);
}

namespace {

// Of some steps: the sum of the acceptance probabilities, and the model's log p at the end.
class Passage final : public StepObserver {
 public:
  Passage(std::uint64_t steps, std::span<double> acceptance, std::span<double> logp)
      : steps_(steps), acceptance_(acceptance), logp_(logp) {}
  bool wants_logp(std::uint64_t step) const override { return step + 1 == steps_; }
  bool wants_states(std::uint64_t) const override { return false; }
  bool takes_sums() const override { return true; }
  void after_steps(std::uint32_t, std::span<const StepSums> sums) override {
    for (std::size_t r = 0; r < sums.size(); ++r) acceptance_[r] += sums[r].acceptance;
  }
  void after_step(const Tile& tile, std::span<const StepInfo> info, std::uint64_t) override {
    for (std::size_t r = 0; r < info.size(); ++r) acceptance_[r] += info[r].acceptance;
    std::copy_n(tile.logp, logp_.size(), logp_.begin());
  }

 private:
  std::uint64_t steps_;
  std::span<double> acceptance_, logp_;
};

}  // namespace

void LatticeChains::anneal(const Sampler& sampler, std::uint64_t step, const Path& path,
                           const Annealed& out) {
  const std::optional<Native> here = native(sampler, path.base);
  if (!here || here->sampler == LatticeSampler::dula) {
    return general(step).anneal(sampler, step, path, out);
  }
  settle_here();
  std::vector<double> logp(static_cast<std::size_t>(chains_));
  evaluate(step, logp);
  const double log_base = log_of(path.base);
  const auto steps = static_cast<std::uint64_t>(path.steps_per_beta);
  for (std::size_t k = 0; k + 1 < path.betas.size(); ++k) {
    const Tempering at{path.betas[k]};
    for (std::size_t r = 0; r < logp.size(); ++r) {
      out.log_weights[r] += at.log_weight(path.betas[k + 1], logp[r], log_base);
    }
    if (k + 2 == path.betas.size() && path.stop_short) break;
    Passage passage(steps, out.acceptance, logp);
    run(*here, path.betas[k + 1], {&target_.model(), {}, 0, here->sampler}, step, steps, passage);
    step += steps;
  }
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
