#include "cuda/chains/chains.hpp"

#include "saltus/core/error.hpp"

namespace saltus::cuda {
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
  levels_.put_rows(stream(), states);
  launch_.put_levels(levels_.data());
  energy_->stream().wait();
  logp_current_ = score_current_ = false;
}

void CudaChains::get_states(Rows<Symbol> states) const {
  launch_.get_levels(levels_.data());
  levels_.get_rows(stream(), states);
  energy_->stream().wait();
}

void CudaChains::evaluate(std::uint64_t step, std::span<double> logp) {
  evaluate_states(step);
  logp_.get(stream(), logp);
  energy_->stream().wait();
}

// What the kernel starts from and an earlier one left behind.
void CudaChains::make_ready(const Kernel& kernel, std::uint64_t step) {
  const bool ready = (kernel.in_place || logp_current_) && (!kernel.by_score || score_current_);
  if (!ready) evaluate_states(step);
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
Control CudaChains::control_for(const Served& served, Control control, std::uint64_t step,
                                std::uint64_t steps) {
  control.seed = seed_;
  control.step = step;
  control.first_chain = first_chain_;
  if (!served.penalty.empty()) {
    penalty_.put(stream(), served.penalty);
    control.penalty = penalty_.data();
    control.uniform_penalty = served.penalty.size() == 1;
  }
  const std::vector<std::int32_t> sites = sites_of(served, domain_, seed_, step, steps);
  if (!sites.empty()) {
    sites_.grow(sites.size());
    sites_.put(stream(), sites);
    control.sites = sites_.data();
  }
  return control;
}

// Chains go to the way to the model: the base's law, and log p_0 of the states.
Control CudaChains::enter(const Independent& base, std::span<const double> betas,
                          int steps_per_beta) {
  Control control{};
  std::vector<double> slope;
  for (int i = 0; i < domain_.dim(); ++i) {
    slope.push_back(base.score(i, 0));
    control.base_of_low += base.log_probability(i, 0);
  }
  betas_.grow(betas.size());
  betas_.put(stream(), betas);
  base_slope_.put(stream(), slope);
  control.betas = betas_.data();
  control.base_slope = base_slope_.data();
  control.steps_per_beta = steps_per_beta;
  control_.put(stream(), {&control, 1});
  launch_.each_chain(Pass::start_way, 0);
  return control;
}

void CudaChains::count(const Kernel& kernel, bool logp, std::uint64_t steps) {
  const std::uint64_t all = steps * static_cast<std::uint64_t>(launch_.chains.chains);
  if (logp) evaluations_.logp += all;
  if (kernel.by_score) evaluations_.gradient += all;
}

Served CudaChains::served(const Sampler& sampler) const {
  const Served served = serve(sampler);
  if (!served.kernel) throw UsageError("the GPU has no kernel for the sampler " + sampler.name());
  return served;
}

void CudaChains::advance(const Sampler& sampler, const Law& law, std::uint64_t step,
                         std::uint64_t steps, StepObserver& observer) {
  const Served by = served(sampler);
  const Kernel& kernel = *by.kernel;
  make_ready(kernel, step);
  const double betas[] = {law.beta, law.beta};
  const Control at = law.beta == 1 ? Control{} : enter(*law.base, betas, kForever);
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
    const bool logp = !kernel.in_place || records.wants_logp();
    Control control = control_for(by, at, step + done, planned);
    records.enter(control);
    enqueue(kernel, logp, control, planned);
    records.fetch(stream(), copies_);
    count(kernel, logp, planned);
    logp_current_ = logp, score_current_ = kernel.by_score;
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
  const Served by = served(sampler);
  const Kernel& kernel = *by.kernel;
  if (kernel.in_place) {
    throw UsageError(sampler.name() + " biases the estimate; use dmala, gwg or gibbs");
  }
  make_ready(kernel, step);
  const std::uint64_t moves = path.betas.size() - 1, with_steps = moves - path.stop_short;
  const std::uint64_t steps = with_steps * static_cast<std::uint64_t>(path.steps_per_beta);
  Control control =
      control_for(by, enter(*path.base, path.betas, path.steps_per_beta), step, steps);
  log_weights_.put(stream(), out.log_weights);
  acceptance_.put(stream(), out.acceptance);
  control.log_weights = log_weights_.data();
  control.acceptance = acceptance_.data();
  enqueue(kernel, true, control, steps);
  if (path.stop_short) launch_.weigh(static_cast<std::uint32_t>(moves - 1));
  count(kernel, true, steps);
  if (steps > 0) score_current_ = kernel.by_score;
  log_weights_.get(stream(), out.log_weights);
  acceptance_.get(stream(), out.acceptance);
  energy_->stream().wait();
}

void CudaChains::enqueue(const Kernel& kernel, bool logp, const Control& control,
                         std::uint64_t steps) {
  const auto held = energy_->lock();
  control_.put(stream(), {&control, 1});
  for (; steps >= kGraphSteps; steps -= kGraphSteps) graph(kernel, logp, kGraphSteps).replay();
  for (; steps > 0; --steps) graph(kernel, logp, 1).replay();
}

// What is done for the first time, like loading code or choosing among algorithms, must not happen
// while a graph is captured.
Graph& CudaChains::graph(const Kernel& kernel, bool logp, int length) {
  if (generation_ != energy_->generation()) {
    energy_->stream().wait();
    graphs_.clear();
    generation_ = energy_->generation();
  }
  std::unique_ptr<Graph>& graph = graphs_[{&kernel, logp, length}];
  if (!graph) {
    evaluate_step(kernel, logp, true, 0);
    energy_->stream().wait();
    graph = energy_->stream().capture([&] {
      for (int offset = 0; offset < length; ++offset) enqueue_step(kernel, logp, offset);
      launch_.move_on(length);
    });
    ++captures_;
  }
  return *graph;
}

// Warming up leaves the chains as they are: it writes to where proposals are.
void CudaChains::evaluate_step(const Kernel& kernel, bool logp, bool warm_up, int offset) {
  const ChainArrays& c = launch_.chains;
  const bool moved = kernel.in_place && !warm_up;
  double* to_logp = moved ? c.logp : c.y_logp;
  float* to_score = moved ? c.score : c.y_score;
  // At the step that follows, as on the host.
  const Control* control = control_.data();
  const DeviceAt at{&control->seed, &control->step, static_cast<std::uint64_t>(offset) + 1};
  energy_->evaluate(at, kernel.in_place || warm_up ? c.x : c.y, c.chains, logp ? to_logp : nullptr,
                    kernel.by_score ? to_score : nullptr);
}

void CudaChains::enqueue_step(const Kernel& kernel, bool logp, int offset) {
  launch_.each_chain(logp ? kernel.before : Pass::move_langevin_and_record, offset);
  evaluate_step(kernel, logp, false, offset);
  if (logp) launch_.each_chain(kernel.after, offset);
}

}  // namespace saltus::cuda
