#include "cuda/chains/chains.hpp"

#include "saltus/core/error.hpp"

namespace saltus::cuda {
namespace {

bool tests(Kernel kernel) {
  return kernel == Kernel::dmala || kernel == Kernel::gwg;
}

}  // namespace

TwoLevels two_levels(const Domain& domain) {
  if (!domain.two_level()) throw UsageError("chains on the GPU need coordinates with two levels");
  return {domain.dim(), static_cast<float>(domain.value(0)), static_cast<float>(domain.value(1))};
}

CudaChains::CudaChains(std::shared_ptr<SharedEnergy> energy, const Domain& domain, int chains,
                       std::uint64_t seed)
    : energy_(std::move(energy)),
      domain_(domain),
      seed_(seed),
      records_{Records(chains, domain.dim()), Records(chains, domain.dim())} {
  const TwoLevels levels = two_levels(domain);
  const auto n = static_cast<std::size_t>(chains);
  const std::size_t all = n * static_cast<std::size_t>(levels.dim);
  for (auto* rows : {&x_, &score_, &y_, &y_score_}) rows->grow(all);
  for (auto* list : {&logp_, &y_logp_, &base_, &y_base_, &log_q_, &log_weights_, &acceptance_}) {
    list->grow(n);
  }
  changes_.grow(n), site_.grow(n), nonfinite_.grow(n), levels_.grow(all);
  control_.grow(1), at_.grow(2);
  penalty_.grow(static_cast<std::size_t>(padded(levels.dim)));
  base_slope_.grow(static_cast<std::size_t>(levels.dim));
  launch_ = {{chains, levels, x_.data(), score_.data(), y_.data(), y_score_.data(), logp_.data(),
              y_logp_.data(), base_.data(), y_base_.data(), log_q_.data(), changes_.data(),
              site_.data(), nonfinite_.data()},
             control_.data(),
             stream()};
  check(cudaStreamCreateWithFlags(&copies_, cudaStreamNonBlocking), "cudaStreamCreate");
  energy_->prepare(chains);
  generation_ = energy_->generation();
  load_kernels();
}

CudaChains::~CudaChains() {
  cudaStreamSynchronize(stream());
  cudaStreamSynchronize(copies_);
  cudaStreamDestroy(copies_);
}

void CudaChains::put_states(Rows<const Symbol> states) {
  const auto row = static_cast<std::size_t>(states.cols) * sizeof(Symbol);
  check(cudaMemcpy2DAsync(levels_.data(), row, states.data,
                          static_cast<std::size_t>(states.stride) * sizeof(Symbol), row,
                          static_cast<std::size_t>(states.rows), cudaMemcpyHostToDevice, stream()),
        "cudaMemcpy2DAsync");
  launch_.put_levels(levels_.data());
  energy_->stream().wait();
  logp_current_ = score_current_ = false;
}

void CudaChains::get_states(Rows<Symbol> states) const {
  launch_.get_levels(levels_.data());
  const auto row = static_cast<std::size_t>(states.cols) * sizeof(Symbol);
  check(cudaMemcpy2DAsync(states.data, static_cast<std::size_t>(states.stride) * sizeof(Symbol),
                          levels_.data(), row, row, static_cast<std::size_t>(states.rows),
                          cudaMemcpyDeviceToHost, stream()),
        "cudaMemcpy2DAsync");
  energy_->stream().wait();
}

void CudaChains::evaluate(std::uint64_t step, std::span<double> logp) {
  evaluate_states(step);
  logp_.get(stream(), logp);
  energy_->stream().wait();
}

// What the kernel starts from and an earlier one left behind.
void CudaChains::make_ready(Kernel kernel, std::uint64_t step) {
  const bool logp = kernel != Kernel::dula, score = kernel != Kernel::gibbs;
  if ((!logp || logp_current_) && (!score || score_current_)) return;
  evaluate_states(step);
}

void CudaChains::evaluate_states(std::uint64_t step) {
  const std::uint64_t at[2] = {seed_, step};
  at_.put(stream(), at);
  energy_->evaluate({at_.data(), at_.data() + 1}, x_.data(), launch_.chains.chains, logp_.data(),
                    score_.data());
  logp_current_ = score_current_ = true;
}

// The sampler's parameters and the numbers of the steps. What changes from call to call goes to
// where graphs look for it.
Control CudaChains::control_for(const Sampler& sampler, std::uint64_t step, std::uint64_t steps) {
  Control control{};
  control.seed = seed_;
  control.step = step;
  control.first_chain = first_chain_;
  if (const auto* dlp = dynamic_cast<const Dlp*>(&sampler)) {
    penalty_.put(stream(), dlp->penalty());
    control.penalty = penalty_.data();
    control.uniform_penalty = dlp->penalty().size() == 1;
  }
  if (const auto* gibbs = dynamic_cast<const Gibbs*>(&sampler)) {
    const std::vector<std::int32_t> sites = sites_of(*gibbs, domain_, seed_, step, steps);
    if (!sites.empty()) {
      sites_.grow(sites.size());
      sites_.put(stream(), sites);
      control.sites = sites_.data();
    }
  }
  return control;
}

void CudaChains::count(Kernel kernel, bool logp, std::uint64_t steps) {
  const std::uint64_t all = steps * static_cast<std::uint64_t>(launch_.chains.chains);
  if (logp) evaluations_.logp += all;
  if (kernel != Kernel::gibbs) evaluations_.gradient += all;
}

void CudaChains::advance(const Sampler& sampler, std::uint64_t step, std::uint64_t steps,
                         StepObserver& observer) {
  const Kernel kernel = kernel_for(sampler);
  make_ready(kernel, step);
  struct {
    const Records* records = nullptr;
    Tile tile;
  } before;
  const auto tell = [&] {
    if (before.records) before.records->tell(before.tile, observer);
  };
  for (std::uint64_t done = 0; done < steps;) {
    Records& records = records_[&records_[0] == before.records];
    const std::uint64_t planned = records.plan(stream(), observer, done, steps - done);
    const bool logp = kernel != Kernel::dula || records.wants_logp();
    Control control = control_for(sampler, step + done, planned);
    records.enter(control);
    enqueue(kernel, logp, control, planned);
    records.fetch(stream(), copies_);
    count(kernel, logp, planned);
    logp_current_ = logp, score_current_ = kernel != Kernel::gibbs;
    tell();
    before.records = &records;
    before.tile.first_chain = first_chain_;
    before.tile.step = step + done;
    done += planned;
  }
  tell();
}

// Move k is made before the first of its steps, by the kernel that proposes.
void CudaChains::anneal(const Sampler& sampler, std::uint64_t step, const Path& path,
                        const Annealed& out) {
  const Kernel kernel = kernel_for(sampler);
  if (!tests(kernel) && kernel != Kernel::gibbs) {
    throw UsageError(sampler.name() + " biases the estimate; use dmala, gwg or gibbs");
  }
  make_ready(kernel, step);
  const std::uint64_t moves = path.betas.size() - 1, with_steps = moves - path.stop_short;
  const std::uint64_t steps = with_steps * static_cast<std::uint64_t>(path.steps_per_beta);
  const Control control = enter(path, out, control_for(sampler, step, steps));
  control_.put(stream(), {&control, 1});
  launch_.start_way();
  enqueue(kernel, true, control, steps);
  if (path.stop_short) launch_.weigh(static_cast<std::uint32_t>(moves - 1));
  count(kernel, true, steps);
  if (steps > 0) score_current_ = kernel != Kernel::gibbs;
  log_weights_.get(stream(), out.log_weights);
  acceptance_.get(stream(), out.acceptance);
  energy_->stream().wait();
}

Control CudaChains::enter(const Path& path, const Annealed& out, Control control) {
  std::vector<double> slope;
  for (int i = 0; i < domain_.dim(); ++i) {
    slope.push_back(path.base->score(i, 0));
    control.base_of_low += path.base->log_probability(i, 0);
  }
  betas_.grow(path.betas.size());
  betas_.put(stream(), path.betas);
  base_slope_.put(stream(), slope);
  log_weights_.put(stream(), out.log_weights);
  acceptance_.put(stream(), out.acceptance);
  control.betas = betas_.data();
  control.base_slope = base_slope_.data();
  control.steps_per_beta = path.steps_per_beta;
  control.log_weights = log_weights_.data();
  control.acceptance = acceptance_.data();
  return control;
}

void CudaChains::enqueue(Kernel kernel, bool logp, const Control& control, std::uint64_t steps) {
  const auto held = energy_->lock();
  control_.put(stream(), {&control, 1});
  for (; steps >= kGraphSteps; steps -= kGraphSteps) graph(kernel, logp, kGraphSteps).replay();
  for (; steps > 0; --steps) graph(kernel, logp, 1).replay();
}

// What is done for the first time, like loading code or choosing among algorithms, must not happen
// while a graph is captured.
Graph& CudaChains::graph(Kernel kernel, bool logp, int length) {
  if (generation_ != energy_->generation()) {
    energy_->stream().wait();
    graphs_.clear();
    generation_ = energy_->generation();
  }
  std::unique_ptr<Graph>& graph = graphs_[{kernel, logp, length}];
  if (!graph) {
    evaluate_step(kernel, logp, true, 0);
    energy_->stream().wait();
    graph = energy_->stream().capture([this, kernel, logp, length] {
      for (int offset = 0; offset < length; ++offset) enqueue_step(kernel, logp, offset);
      launch_.move_on(length);
    });
    ++captures_;
  }
  return *graph;
}

// Warming up leaves the chains as they are: it writes to where proposals are.
void CudaChains::evaluate_step(Kernel kernel, bool logp, bool warm_up, int offset) {
  const ChainArrays& c = launch_.chains;
  const bool in_place = kernel == Kernel::dula, at_x = in_place || warm_up;
  double* to_logp = in_place && !warm_up ? c.logp : c.y_logp;
  float* to_score = in_place && !warm_up ? c.score : c.y_score;
  // At the step that follows, as on the host.
  const Control* control = control_.data();
  const DeviceAt at{&control->seed, &control->step, static_cast<std::uint64_t>(offset) + 1};
  energy_->evaluate(at, at_x ? c.x : c.y, c.chains, logp ? to_logp : nullptr,
                    kernel == Kernel::gibbs ? nullptr : to_score);
}

void CudaChains::enqueue_step(Kernel kernel, bool logp, int offset) {
  switch (kernel) {
    case Kernel::dmala:
      launch_.propose_langevin(offset);
      evaluate_step(kernel, logp, false, offset);
      return launch_.accept_langevin(offset);
    case Kernel::dula:
      launch_.move_langevin(offset, !logp);
      evaluate_step(kernel, logp, false, offset);
      if (logp) launch_.record_langevin(offset);
      return;
    case Kernel::gwg:
      launch_.propose_site(offset);
      evaluate_step(kernel, logp, false, offset);
      return launch_.accept_site(offset);
    case Kernel::gibbs:
      launch_.propose_gibbs(offset);
      evaluate_step(kernel, logp, false, offset);
      return launch_.settle_gibbs(offset);
    case Kernel::none:
      throw UsageError("the GPU has no kernel for this sampler");
  }
}

}  // namespace saltus::cuda
