#include <cmath>
#include <nlohmann/json.hpp>

#include "core/checksum.hpp"
#include "saltus/learn.hpp"
#include "service/description.hpp"

namespace saltus {
namespace {

constexpr std::int64_t kMostImages = 100'000'000;

std::string describe(const DeepRequest& r) {
  const EbmPlan& plan = r.setup.plan;
  nlohmann::ordered_json d;
  d["version"] = version();
  d["deep"] = "resnet-ebm";
  d["data_sum"] = r.data_sum;
  d["channels"] = r.setup.shape.channels;
  d["blocks"] = r.setup.shape.blocks;
  d["halvings"] = r.setup.shape.halvings;
  d["sampler"] = r.setup.sampler;
  d["settings"] = r.setup.settings;
  d["batch"] = plan.batch;
  d["buffer"] = plan.buffer;
  d["steps"] = plan.steps;
  d["lr"] = plan.rate;
  d["lr_warmup"] = plan.rate_warmup;
  d["lr_decay"] = plan.rate_decay;
  d["gwg_steps"] = plan.gwg_steps;
  d["restart"] = plan.restart;
  d["average_decay"] = r.network.average_decay;
  d["energy_penalty"] = r.network.energy_penalty;
  d["iterations"] = plan.iterations;
  d["validate_every"] = plan.validate_every;
  d["validation_betas"] = plan.validation_betas;
  d["validation_chains"] = plan.validation_chains;
  d["seed"] = std::to_string(plan.seed);
  d["notes"] = r.notes;
  return d.dump();
}

// As an iteration of contrastive divergence: one line serves both.
LearningInfo told(const EbmInfo& info) {
  LearningInfo t;
  t.gap = -info.loss(), t.loss = info.loss(), t.difference = NAN;
  t.acceptance = info.acceptance, t.proposed = info.proposed, t.changed = info.changed;
  t.sampling_seconds = info.sampling_seconds, t.update_seconds = info.update_seconds;
  return t;
}

}  // namespace

std::string sum_of(const ImageSet& images) {
  Checksum sum;
  sum.add(images.grey);
  sum.add(static_cast<std::uint64_t>(images.height));
  sum.add(static_cast<std::uint64_t>(images.width));
  for (const ByteRows* part : {&images.train, &images.valid, &images.test}) {
    sum.add(part->bytes.size());
    sum.add_bytes(part->bytes.data(), part->bytes.size());
  }
  return sum.text();
}

DeepRequest resumed_deep_learning(const std::filesystem::path& folder) {
  const std::string file = EbmRun::checkpoint_in(folder).string();
  return read_description<DeepRequest>(file, "deep", [&](JsonFields& d) {
    const auto count = [&](const char* field, std::int64_t low) {
      return static_cast<int>(whole_number(d, field, low, kMostImages));
    };
    DeepRequest r;
    EbmPlan& plan = r.setup.plan;
    r.setup.folder = folder;
    r.resume = true;
    r.data_sum = d.string("data_sum");
    r.setup.shape.channels = count("channels", 1);
    r.setup.shape.blocks = count("blocks", 1);
    r.setup.shape.halvings = count("halvings", 0);
    r.setup.sampler = d.string("sampler");
    r.setup.settings = d.at("settings").get<Settings>();
    plan.batch = count("batch", 1);
    plan.buffer = count("buffer", 1);
    plan.steps = whole_number(d, "steps", 1);
    plan.rate = d.number("lr");
    plan.rate_warmup = whole_number(d, "lr_warmup", 0);
    plan.rate_decay = d.number("lr_decay");
    plan.gwg_steps = whole_number(d, "gwg_steps", 0);
    plan.restart = d.number("restart");
    r.network.average_decay = d.number("average_decay");
    r.network.energy_penalty = d.number("energy_penalty");
    plan.iterations = whole_number(d, "iterations", 1);
    plan.validate_every = whole_number(d, "validate_every", 0);
    plan.validation_betas = count("validation_betas", 2);
    plan.validation_chains = count("validation_chains", 4);
    plan.seed = seed_in(d);
    r.notes = d.at("notes").get<std::map<std::string, std::string>>();
    return r;
  });
}

DeepRun::DeepRun(DeepRequest request) : request_(std::move(request)) {
  const ImageSet& images = *request_.images;
  EbmSetup& setup = request_.setup;
  const std::string sum = sum_of(images);
  if (request_.resume && request_.data_sum != sum) {
    throw DataError("these are not the data that " + setup.folder.string() + " learned from");
  }
  request_.data_sum = sum;
  setup.shape.height = images.height, setup.shape.width = images.width;
  if (images.valid.rows() == 0) setup.plan.validate_every = 0;
  NetworkLearning learning = request_.network;
  learning.threads = setup.plan.threads;
  run_ = std::make_unique<EbmRun>(setup, images, [&](ResnetEnergy start) {
    return torch_module("learning a deep energy")
        .learn_resnet(std::move(start), learning, request_.device);
  });
}

void DeepRun::start() {
  if (request_.resume) run_->restore();
}

bool DeepRun::go(const LearnProgress& progress) {
  const EbmLearning& learning = run_->learning();
  LearnStatus status{{}, learning.iteration(), request_.setup.plan.iterations, 0};
  status.totals.iterations = learning.iteration();
  if (!learning.history().empty()) status.totals.recent = told(learning.history().back());
  const Stopwatch watch;
  return run_->go(describe(request_), [&](const EbmRun::Now& now) {
    status.seconds = watch.seconds();
    status.validated = now.iteration ? -1 : now.validated;
    if (now.iteration) status.totals.add(told(*now.iteration));
    const bool in_time = request_.time_limit <= 0 || status.seconds < request_.time_limit;
    return (!progress || progress(status)) && in_time;
  });
}

std::string DeepRun::doubts() const {
  if (run_->learning().history().empty()) return "";
  const EbmInfo& now = run_->learning().history().back();
  if (now.stands_still()) return "the chains stand still: nothing more is learned";
  if (now.runs_away()) return "the loss has run away: the chains do not follow the model";
  return "";
}

}  // namespace saltus
