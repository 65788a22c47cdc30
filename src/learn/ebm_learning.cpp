#include "saltus/learn/ebm_learning.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <tuple>
#include <utility>

#include "saltus/core/error.hpp"
#include "saltus/core/stopwatch.hpp"
#include "saltus/learn/likelihood.hpp"
#include "saltus/sampler/registry.hpp"

namespace saltus {
namespace {

constexpr std::uint64_t kEvaluationSeed = 777;
// By which the tuned value follows an iteration's acceptance, which is known to a hundredth from a
// few thousand proposals. A network can become a thousand times as steep within fifty iterations.
constexpr double kGain = 0.25;

// Parts of the work that must not share random numbers: seeds of their own.
enum class Part : std::uint32_t { order, bits, buffer, chains, validation, restart };

std::uint64_t seed_of(Part part, std::uint64_t seed, std::uint64_t iteration = 0) {
  const Stream stream(seed, kAllChains, iteration, Purpose::start);
  const PhiloxBlock b = stream.block(static_cast<std::uint32_t>(part));
  return std::uint64_t{b[0]} << 32 | b[1];
}

void check(const EbmPlan& plan) {
  if (plan.batch < 1) throw UsageError("a batch needs at least one row");
  if (plan.buffer < plan.batch) {
    throw UsageError("the buffer has " + std::to_string(plan.buffer) +
                     " entries, from which a batch of " + std::to_string(plan.batch) +
                     " cannot be chosen");
  }
  if (plan.steps < 1) throw UsageError("an iteration needs at least one step of the sampler");
  if (!(plan.rate >= 0 && std::isfinite(plan.rate))) {
    throw UsageError("the learning rate must be 0 or a number above");
  }
  if (!(plan.rate_decay >= 0 && plan.rate_decay <= 1 && plan.restart >= 0 && plan.restart <= 1)) {
    throw UsageError("rate_decay and restart are shares, from 0 to 1");
  }
  if (plan.gwg_steps >= plan.steps) {
    throw UsageError("of " + std::to_string(plan.steps) + " steps " +
                     std::to_string(plan.gwg_steps) +
                     " are to be made by gwg, which leaves none for the sampler");
  }
  if (plan.record_every < 1) throw UsageError("the history needs points: record_every is 0");
  if (plan.validate_every > 0 && (plan.validation_betas < 2 || plan.validation_chains < 4)) {
    throw UsageError("a validation needs at least two betas and four chains");
  }
}

const Domain& checked_domain(const LearningNetwork& network, const ImageSet& images) {
  const Domain& domain = network.target().domain();
  if (!domain.two_level()) throw UsageError("learning from images needs a model of bits");
  for (const ByteRows* part : {&images.train, &images.valid}) {
    if (part->rows() == 0 || part->cols == domain.dim()) continue;
    throw DataError("the images have " + std::to_string(part->cols) +
                    " pixels, but the model has " + std::to_string(domain.dim()));
  }
  return domain;
}

void refuse_tuning(const Sampler& sampler) {
  if (const Tunable* tunable = sampler.tunable()) {
    const std::string parameter = tunable->tuning().front().parameter;
    throw UsageError("the sampler " + sampler.name() + " has no acceptance to tune its " +
                     parameter + " by: give the " + parameter);
  }
}

}  // namespace

double learning_rate(const EbmPlan& plan, std::uint64_t iteration) {
  const double i = static_cast<double>(iteration), all = static_cast<double>(plan.iterations);
  double share = 1;
  if (iteration < plan.rate_warmup) share = i / static_cast<double>(plan.rate_warmup);
  if (plan.rate_decay > 0) share = std::min(share, (all - i) / (plan.rate_decay * all));
  return plan.rate * share;
}

std::vector<double> base_mean(const ImageSet& images, std::uint64_t seed) {
  if (images.train.rows() < 1) throw DataError("there are no images to learn from");
  const RowBuffer<Symbol> bits =
      binarise(images.train, images.grey, seed_of(Part::bits, seed), kBaseDraw);
  std::vector<std::uint64_t> ones(static_cast<std::size_t>(images.train.cols));
  for (int r = 0; r < bits.view().rows; ++r) {
    for (std::size_t i = 0; i < ones.size(); ++i) ones[i] += bits.view()[r][i];
  }
  std::vector<double> mean;
  for (const std::uint64_t n : ones) {
    mean.push_back(0.98 * (static_cast<double>(n) / bits.view().rows) + 0.01);
  }
  return mean;
}

RowBuffer<Symbol> validation_rows(const ImageSet& images) {
  return binarise(images.valid, images.grey, kEvaluationSeed, kValidDraw);
}

RowBuffer<Symbol> test_rows(const ImageSet& images) {
  return binarise(images.test, images.grey, kEvaluationSeed, kTestDraw);
}

struct EbmLearning::Estimation {
  Tempered path;
  std::shared_ptr<const Sampler> sampler;  // which learning may replace meanwhile
  Annealing annealing;
  double seconds = 0;

  Estimation(const Target& target, const Independent& base, std::shared_ptr<const Sampler> by,
             const AnnealingPlan& plan)
      : path(target, base),
        sampler(std::move(by)),
        annealing(path, *sampler, plan, Annealing::Direction::forward) {
    annealing.start();
  }
};

LearningChains::Plan EbmLearning::chains_of(const LearningNetwork& network, const Sampler& sampler,
                                            const EbmPlan& plan) {
  LearningChains::Plan chains{plan.batch, sampler.interacting() ? plan.batch : 0, plan.threads,
                              seed_of(Part::chains, plan.seed), plan.team};
  if (plan.team && plan.validate_every > 0) {  // those who learn validate, too
    chains.most_members = static_cast<int>(
        chain_ranges(network.averaged(), plan.validation_chains, 0, plan.team->size()).size());
  }
  return chains;
}

EbmLearning::EbmLearning(LearningNetwork& network, const Independent& base, const ImageSet& images,
                         std::unique_ptr<const Sampler> sampler,
                         std::unique_ptr<const Sampler> validator, const EbmPlan& plan)
    : network_(network),
      base_(base),
      images_(images),
      valid_(validation_rows(images)),
      sampler_(std::move(sampler)),
      validator_(std::move(validator)),
      plan_((check(plan), plan)),
      batches_(images.train.rows(), plan.batch, false, seed_of(Part::order, plan.seed)),
      buffer_(plan.buffer, base, seed_of(Part::buffer, plan.seed)),
      chains_(network.target(), chains_of(network, *sampler_, plan)),
      batch_(plan.batch, checked_domain(network, images).dim()) {
  if (!sampler_->exact()) refuse_tuning(*sampler_);
  if (plan.gwg_steps > 0) gwg_ = make_sampler("gwg", network.target(), {{"flips", "1"}});
  if (const Tunable* tunable = sampler_->tunable()) {
    untuned_ = std::move(sampler_);
    for (const Tuning& tuning : tunable->tuning()) tuned_.push_back(tuning.start);
    acceptance_.emplace(chains_.own_chains(), tuned_.size());
    sampler_ = tunable->tuned(tuned_, Tunable::Phase::draws);
  }
  if (plan.validate_every == 0) return;
  if (annealing_sampler() != sampler_) refuse_tuning(*validator_);
  check_annealing(*annealing_sampler(), network.averaged());
}

EbmLearning::~EbmLearning() = default;

std::shared_ptr<const Sampler> EbmLearning::annealing_sampler() const {
  return untuned_ && validator_->name() == sampler_->name() ? sampler_ : validator_;
}

void EbmLearning::load_batch() {
  binarise(images_.train, images_.grey, batches_.at(iteration_), seed_of(Part::bits, plan_.seed),
           iteration_, batch_.view());
}

void EbmLearning::start_some_anew() {
  if (plan_.restart == 0) return;
  const Rows<Symbol> states = chains_.states();
  const std::uint64_t seed = seed_of(Part::restart, plan_.seed);
  for (int r = 0; r < states.rows; ++r) {
    const Stream stream(seed, static_cast<std::uint32_t>(r), iteration_, Purpose::start);
    // Numbers before this one are those of the pixels.
    if (stream.uniform(static_cast<std::uint32_t>(states.cols)) < plan_.restart) {
      base_.draw(stream, states[r]);
    }
  }
}

// Steps are numbered through all iterations, so that random numbers never come twice. What is told
// of them is of the sampler's own.
void EbmLearning::sample(EbmInfo& info) {
  const std::vector<std::int32_t> chosen = buffer_.choose(iteration_, plan_.batch);
  buffer_.get(chosen, chains_.states());
  start_some_anew();
  const std::uint64_t first = iteration_ * plan_.steps, own = plan_.steps - plan_.gwg_steps;
  try {
    chains_.advance(*sampler_, {first, own}, acceptance_ ? &*acceptance_ : nullptr);
    chains_.set_means(own, info);
    if (gwg_) chains_.advance(*gwg_, {first + own, plan_.gwg_steps});
  } catch (const StartError&) {  // it was finite before the last updates
    throw DataError("log p of a chain is not finite: the network has diverged");
  }
  buffer_.put(chosen, chains_.states());
  info.step_size = sampler_->step_size().value_or(0);
  tune();
}

// Robbins & Monro, "A stochastic approximation method", 1951; the gain stays, as the model does
// not.
void EbmLearning::tune() {
  if (!untuned_) return;
  const std::vector<Tuning> tuning = untuned_->tunable()->tuning();
  for (std::size_t k = 0; k < tuning.size(); ++k) {
    const double acceptance = acceptance_->mean(k, team());
    const bool none = std::isnan(acceptance);  // no proposal changed anything: far too small
    const double error = (none ? 1 : acceptance) - tuning[k].acceptance;
    const double gain = kGain * (tuning[k].proportional ? 1 + std::abs(tuned_[k]) : 1);
    tuned_[k] = std::clamp(tuned_[k] + gain * error, tuning[k].low, tuning[k].high);
  }
  acceptance_->clear();
  sampler_ = untuned_->tunable()->tuned(tuned_, Tunable::Phase::draws);
}

// Chains that hardly move are the usual reason of a failure.
std::string EbmLearning::acceptance_text() const {
  if (history_.empty()) return "";
  const double percent = 100 * history_.back().acceptance;
  char text[80];
  std::snprintf(text, sizeof text, " (chains accepted %.1f %% of their proposals before)", percent);
  return text;
}

EbmInfo EbmLearning::step() {
  EbmInfo info;
  info.rate = learning_rate(plan_, iteration_);
  Stopwatch clock;
  try {
    load_batch();
    sample(info);
    info.sampling_seconds = clock.lap();
    const LearningNetwork::Means means =
        network_.update(batch_.view(), chains_.states(), info.rate);
    info.update_seconds = clock.lap();
    info.data_logp = means.data;
    info.sample_logp = means.samples;
  } catch (const ComputationError&) {
    throw;
  } catch (const DataError& e) {
    throw DataError("learning failed in iteration " + std::to_string(iteration_) + ": " + e.what() +
                    acceptance_text() +
                    "; a smaller learning rate, a smaller step size or more steps may help");
  }
  info.iteration = ++iteration_;
  info.seconds = seconds_ += info.sampling_seconds + info.update_seconds;
  record(info);
  return info;
}

void EbmLearning::record(const EbmInfo& info) {
  const auto each = [](EbmInfo& a, auto change) {
    for (double EbmInfo::*member :
         {&EbmInfo::data_logp, &EbmInfo::sample_logp, &EbmInfo::acceptance, &EbmInfo::proposed,
          &EbmInfo::changed, &EbmInfo::sampling_seconds, &EbmInfo::update_seconds}) {
      change(a.*member, member);
    }
  };
  each(sums_, [&](double& sum, double EbmInfo::*member) { sum += info.*member; });
  ++summed_;
  if (iteration_ % plan_.record_every != 0 && iteration_ != plan_.iterations) return;
  each(sums_, [&](double& sum, auto) { sum /= static_cast<double>(summed_); });
  sums_.iteration = info.iteration, sums_.rate = info.rate, sums_.seconds = info.seconds;
  sums_.step_size = info.step_size;
  history_.push_back(std::exchange(sums_, {}));
  summed_ = 0;
}

bool EbmLearning::validation_due() const {
  if (estimation_) return true;
  if (plan_.validate_every == 0 || valid_.view().rows == 0 || iteration_ == 0) return false;
  if (iteration_ % plan_.validate_every != 0 && iteration_ != plan_.iterations) return false;
  return validations_.empty() || validations_.back().iteration < iteration_;
}

// Of this member's chains.
ChainRange EbmLearning::validation_range() const {
  if (!team()) return {0, plan_.validation_chains};
  return chain_ranges(network_.averaged(), plan_.validation_chains, 0,
                      team()->size())[static_cast<std::size_t>(team()->rank())];
}

void EbmLearning::begin_validation() {
  AnnealingPlan plan;
  const ChainRange mine = validation_range();
  plan.betas = linear_betas(plan_.validation_betas);
  plan.chains = mine.chains;
  plan.first_chain = mine.first_chain;
  plan.reduction = plan.team = team();
  plan.seed = seed_of(Part::validation, plan_.seed, iteration_);
  plan.threads = plan_.threads;
  estimation_ = std::make_unique<Estimation>(network_.averaged(), base_, annealing_sampler(), plan);
}

bool EbmLearning::validate(const std::function<bool(double done)>& proceed) {
  if (!validation_due()) return true;
  if (!estimation_) begin_validation();
  Stopwatch clock;
  bool complete = false;
  try {
    complete = estimation_->annealing.go([&](std::size_t made, std::size_t all) {
      return !proceed || proceed(static_cast<double>(made) / static_cast<double>(all));
    });
  } catch (...) {
    estimation_.reset();  // some chains may be further than others
    throw;
  }
  estimation_->seconds += clock.lap();
  if (complete) finish_validation();
  return complete;
}

void EbmLearning::finish_validation() {
  const std::span<const double> weights = estimation_->annealing.log_weights();
  const AisEstimate e = forward_estimate(
      team() ? team()->gather(weights) : std::vector<double>(weights.begin(), weights.end()));
  Validation v;
  v.iteration = iteration_;
  v.log_z = e.log_z, v.standard_error = e.standard_error, v.ess = e.ess;
  v.acceptance = estimation_->annealing.acceptance(team());
  v.seconds = estimation_->seconds;
  v.mean_logp = mean_logp(network_.averaged(), valid_.view(), plan_.threads);
  estimation_.reset();
  if (v.of_several() && !v.possible()) {
    throw DataError(
        "after " + std::to_string(iteration_) + " iterations the validation log-likelihood is " +
        std::to_string(v.log_likelihood()) +
        ", but probabilities of images are below 1: the estimate of log Z is far too low, which "
        "means that chains do not reach where the model's mass is. Learning has gone wrong; a "
        "smaller learning rate, more steps or another sampler may help");
  }
  validations_.push_back(v);
  if (best() != &validations_.back()) return;
  best_parameters_ = network_.averaged_parameters();
  best_buffer_ = buffer_;
}

const Validation* best_of(const std::vector<Validation>& validations) {
  const auto rank = [](const Validation& v) {
    return std::tuple(v.sound(), v.possible(), v.log_likelihood());
  };
  const auto found =
      std::max_element(validations.begin(), validations.end(),
                       [&](const Validation& a, const Validation& b) { return rank(a) < rank(b); });
  return found == validations.end() ? nullptr : &*found;
}

RowBuffer<Symbol> EbmLearning::entries_of(const ReplayBuffer& buffer, std::uint64_t iteration,
                                          int count, int dim) {
  count = std::min(count, buffer.entries());
  RowBuffer<Symbol> rows(count, dim);
  buffer.get(buffer.choose(iteration > 0 ? iteration - 1 : 0, count), rows.view());
  return rows;
}

RowBuffer<Symbol> EbmLearning::samples(int count) const {
  return entries_of(buffer_, iteration_, count, chains_.states().cols);
}

RowBuffer<Symbol> EbmLearning::best_samples(int count) const {
  if (!best_buffer_) return samples(count);
  return entries_of(*best_buffer_, best()->iteration, count, chains_.states().cols);
}

void EbmLearning::save(ByteWriter& out) const {
  if (team() && !team()->leads()) {
    if (estimation_) estimation_->annealing.save(out);
    return;
  }
  out.put(iteration_);
  network_.save(out);
  buffer_.save(out);
  for (const double value : tuned_) out.put(value);
  out.put(sums_);
  out.put(summed_);
  out.put(seconds_);
  out.put_array(std::span<const EbmInfo>(history_));
  out.put_array(std::span<const Validation>(validations_));
  out.put_array(std::span<const float>(best_parameters_));
  out.put(best_buffer_.has_value());
  if (best_buffer_) best_buffer_->save(out);
  out.put(estimation_ != nullptr);
  if (!estimation_) return;
  out.put(estimation_->seconds);
  estimation_->annealing.save(out);
}

void EbmLearning::restore(ByteReader& in) {
  const auto read = [&]<class T>(std::vector<T>& values) {
    values.resize(in.next_array_length(sizeof(T)));
    in.get_array(std::span(values));
  };
  iteration_ = in.get<std::uint64_t>();
  network_.restore(in);
  buffer_.restore(in);
  for (double& value : tuned_) value = in.get<double>();
  if (untuned_) sampler_ = untuned_->tunable()->tuned(tuned_, Tunable::Phase::draws);
  sums_ = in.get<EbmInfo>();
  summed_ = in.get<std::uint64_t>();
  seconds_ = in.get<double>();
  read(history_);
  read(validations_);
  read(best_parameters_);
  best_buffer_.reset();
  if (in.get<bool>()) {
    best_buffer_ = buffer_;
    best_buffer_->restore(in);
  }
  estimation_.reset();
  if (!in.get<bool>()) return;
  begin_validation();
  estimation_->seconds = in.get<double>();
  in.read_chains(validation_range().first_chain, static_cast<std::size_t>(plan_.validation_chains));
  estimation_->annealing.restore(in);
}

}  // namespace saltus
