#include "saltus/learn.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/checksum.hpp"
#include "core/number_text.hpp"
#include "saltus/learn/ebm_run.hpp"
#include "saltus/learn/trainable_ising.hpp"
#include "saltus/learn/trainable_rbm.hpp"
#include "service/description.hpp"

namespace saltus {
namespace {

constexpr double kMostParameters = 1 << 30;
constexpr std::int64_t kMostRows = 1'000'000'000;
constexpr double kForget = 0.05;  // weight of the latest iteration

std::shared_ptr<Trainable> make_model(const LearnRequest& r) {
  const double other = r.kind == "rbm" ? r.hidden : r.data.cols;
  if (other * r.data.cols > kMostParameters) {
    throw UsageError(fmt::format("the model would have {} weights; at most {} are possible",
                                 rounded(other * r.data.cols), rounded(kMostParameters)));
  }
  if (r.kind == "rbm") return std::make_shared<TrainableRbm>(r.data, r.hidden, r.plan.seed);
  return std::make_shared<TrainableIsing>(r.data.cols, r.fields,
                                          TrainableIsing::Start{.seed = r.plan.seed});
}

std::string describe(const LearnRequest& r) {
  nlohmann::ordered_json d;
  d["version"] = version();
  d["learn"] = r.kind;
  d["data_sum"] = r.data_sum;
  d["hidden"] = r.hidden;
  d["fields"] = r.fields;
  d["sampler"] = r.sampler;
  d["settings"] = r.settings;
  d["batch"] = r.plan.batch;
  d["drop_last"] = r.plan.drop_last;
  d["chains"] = r.plan.chains;
  d["steps"] = r.plan.steps;
  d["l1"] = r.plan.l1;
  d["lr"] = r.plan.adam.rate;
  d["seed"] = std::to_string(r.plan.seed);
  d["iterations"] = r.iterations;
  d["notes"] = r.notes;
  return d.dump();
}

}  // namespace

std::string sum_of(Rows<const Symbol> rows) {
  Checksum sum;
  sum.add(static_cast<std::uint64_t>(rows.rows));
  sum.add(static_cast<std::uint64_t>(rows.cols));
  for (int r = 0; r < rows.rows; ++r) {
    for (const Symbol x : rows.row(r)) sum.add(x);
  }
  return sum.text();
}

LearnRequest learn_request(const std::string& kind) {
  if (kind != "rbm" && kind != "ising") {
    throw UsageError("there is no model of the kind " + kind + " to learn: rbm and ising");
  }
  LearnRequest r;
  r.kind = kind;
  if (kind == "rbm") {
    r.sampler = "block_gibbs";
    r.epochs = 1;
  } else {
    r.sampler = "dmala";
    r.settings["step_size"] = "0.15";
    r.plan.batch = r.plan.chains = 256;
    r.plan.steps = 100;
    r.iterations = 1000;
  }
  return r;
}

LearnRequest resumed_learning(const std::string& checkpoint) {
  return read_description<LearnRequest>(checkpoint, "learn", [&](JsonFields& d) {
    LearnRequest r;
    r.resume = r.checkpoint = checkpoint;
    r.kind = d.string("learn");
    r.data_sum = d.string("data_sum");
    r.hidden = static_cast<int>(whole_number(d, "hidden", 1, kMostRows));
    r.fields = d.boolean("fields");
    r.sampler = d.string("sampler");
    r.settings = d.at("settings").get<Settings>();
    r.plan.batch = static_cast<int>(whole_number(d, "batch", 1, kMostRows));
    r.plan.drop_last = d.boolean("drop_last");
    r.plan.chains = static_cast<int>(whole_number(d, "chains", 0, kMostRows));
    r.plan.steps = whole_number(d, "steps", 1);
    r.plan.l1 = d.number("l1");
    r.plan.adam.rate = d.number("lr");
    r.plan.seed = seed_in(d);
    r.iterations = whole_number(d, "iterations", 1);
    r.notes = d.at("notes").get<std::map<std::string, std::string>>();
    return r;
  });
}

void LearnTotals::add(const LearningInfo& info) {
  ++iterations;
  const double weight = std::max(kForget, 1 / static_cast<double>(iterations));
  const auto follow = [&](double& mean, double value) { mean += weight * (value - mean); };
  follow(recent.gap, info.gap);
  follow(recent.loss, info.loss);
  follow(recent.difference, info.difference);
  follow(recent.acceptance, info.acceptance);
  follow(recent.proposed, info.proposed);
  follow(recent.changed, info.changed);
  sampling_seconds += info.sampling_seconds;
  gradient_seconds += info.gradient_seconds;
  update_seconds += info.update_seconds;
}

LearnRun::LearnRun(LearnRequest request) : request_(std::move(request)) {
  if (!request_.data) throw UsageError("there are no data to learn from");
  if (request_.checkpoint.empty()) request_.checkpoint = request_.resume;
  const std::string sum = sum_of(request_.data);
  if (!request_.resume.empty() && request_.data_sum != sum) {
    throw DataError("these are not the data that " + request_.resume + " learned from");
  }
  request_.data_sum = sum;
  request_.plan.batch = std::min(request_.plan.batch, request_.data.rows);
  model_ = make_model(request_);
  learning_ = std::make_unique<ContrastiveDivergence>(
      *model_, request_.data,
      make_sampler(request_.sampler, model_->target(),
                   learning_settings(request_.sampler, request_.settings)),
      request_.plan);
  if (request_.epochs > 0) request_.iterations = learning_->batches().iterations(request_.epochs);
  if (!request_.before.empty()) {
    go_on_from(request_.before, "what was learned before");
    request_.iterations += learning_->iteration();
    request_.before.clear();
  }
  if (!request_.resume.empty() && !learning_->idle()) restore();
}

void LearnRun::restore() {
  Team* const team = learning_->team();
  std::vector<std::byte> state;
  if (!team || team->leads()) state = read_checkpoint(request_.resume).state;
  if (team) state = team->share(state);
  go_on_from(state, request_.resume + ": the checkpoint");
  if (request_.iterations < learning_->iteration()) {
    throw UsageError(fmt::format("{} has done {} iterations already", request_.resume,
                                 with_commas(learning_->iteration())));
  }
}

void LearnRun::go_on_from(std::span<const std::byte> state, const std::string& source) {
  ByteReader in(state);
  try {
    totals_ = in.get<LearnTotals>();
    learning_->restore(in);
  } catch (const DataError& e) {
    throw DataError(source + " does not fit (" + e.what() + ")");
  }
}

// All members of a team have all that a checkpoint holds: the leader saves alone.
bool LearnRun::go(const LearnProgress& progress) {
  if (learning_->idle()) return true;
  Team* const team = learning_->team();
  std::function<void()> saving;
  if (!request_.checkpoint.empty() && (!team || team->leads())) saving = [this] { save(); };
  if (saving) saving();
  Pacer pacer(request_.checkpoint_every, request_.time_limit, saving);
  const std::uint64_t first = totals_.iterations;
  for (bool on = true; on && learning_->iteration() < request_.iterations;) {
    totals_.add(learning_->step());
    const auto leader_says = [&] {
      const bool wanted =
          !progress || progress({totals_, first, request_.iterations, pacer.seconds()});
      return pacer.next() && wanted;
    };
    on = agree(team, leader_says, [](ByteWriter&) {});
  }
  if (saving) saving();
  return learning_->iteration() >= request_.iterations;
}

std::vector<std::byte> LearnRun::state() const {
  ByteWriter out;
  out.put(totals_);
  learning_->save(out);
  return {out.bytes().begin(), out.bytes().end()};
}

void LearnRun::save() const {
  write_checkpoint(request_.checkpoint, describe(request_), state());
}

void LearnRun::save_to(const std::string& checkpoint) {
  request_.checkpoint = checkpoint;
  save();
}

LearnResult LearnRun::result() const {
  return {model_, totals_, learning_->batches().epochs(totals_.iterations),
          learning_->sampler().parameters(), learning_->iteration() >= request_.iterations};
}

LearnResult learn(LearnRequest request, const LearnProgress& progress) {
  LearnRun run(std::move(request));
  run.go(progress);
  return run.result();
}

}  // namespace saltus
