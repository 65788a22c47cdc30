#include "reproduce/ebm/cell.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "io/bytes/byte_file.hpp"
#include "reproduce/chains.hpp"
#include "reproduce/data/image_sets.hpp"
#include "saltus/anneal/ais.hpp"
#include "saltus/core/error.hpp"
#include "saltus/io/images.hpp"
#include "saltus/learn.hpp"
#include "saltus/version.hpp"

namespace saltus::reproduce {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEvaluation = "evaluation.json";
constexpr const char* kFailure = "failure.txt";
constexpr const char* kProblem = "problem.txt";
constexpr const char* kNotes = "notes.txt";
constexpr const char* kData = "data.png";

// Of the bounded cells: of little weight among values of f of some hundreds, as they are when
// learning goes well; stronger than the gradient of log p where f is beyond 5,000.
constexpr double kPenalty = 1e-4;

// Of the steady cells, beside the penalty and a tuned step size: GWG moves chains that DMALA
// cannot, and a rate that falls averages out noise.
constexpr std::uint64_t kSteadyGwgSteps = 10;
constexpr double kSteadyDecay = 0.5;

// Learning from Caltech diverges at the paper's rate, 1e-4. This is the rate of the released
// scripts of Grathwohl et al. for that set.
constexpr double kCaltechRate = 1e-5;
constexpr const char* kCaltechRateName = "1e-5";
// Iterations between validations on Caltech: the best parameters may come shortly before learning
// diverges.
constexpr std::uint64_t kCaltechValidations = 1000;

constexpr int kPictures = 100;  // images in a grid

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::byte> bytes_of(const fs::path& path) {
  const std::string text = text_of(path);
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  return {bytes, bytes + text.size()};
}

// The numbers of a table's rows, without its first line.
std::vector<std::vector<double>> read_table(const fs::path& path, std::size_t columns) {
  std::istringstream lines(text_of(path));
  std::vector<std::vector<double>> rows;
  std::string line, entry;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream entries(line);
    std::vector<double> row;
    while (std::getline(entries, entry, ',')) row.push_back(std::strtod(entry.c_str(), nullptr));
    if (row.size() != columns) throw DataError(path.string() + ": not a table of saltus");
    rows.push_back(row);
  }
  return rows;
}

int buffer_of(const EbmCell& cell, const EbmProtocol& protocol) {
  return std::min(published_buffer(cell.dataset), protocol.plan.buffer);
}

EbmPlan plan_of(const EbmCell& cell, const EbmWork& work) {
  EbmPlan plan = work.protocol.plan;
  plan.buffer = buffer_of(cell, work.protocol);
  plan.seed = work.seed;
  plan.threads = work.threads;
  if (cell.rate > 0) plan.rate = cell.rate;
  plan.validate_every = validations_every(cell.dataset, work.protocol);
  if (!cell.steady) return plan;
  plan.gwg_steps = std::min(kSteadyGwgSteps, plan.steps / 4);
  plan.rate_decay = kSteadyDecay;
  return plan;
}

// All that determines a cell's learning, but for the number of iterations.
std::string description_of(const EbmCell& cell, const EbmWork& work, const std::string& sum) {
  const EbmPlan plan = plan_of(cell, work);
  const ResnetShape& shape = work.protocol.shape;
  Json d = {{"version", version()},
            {"reproduce", "ebm"},
            {"cell", cell.name()},
            {"settings", cell.settings()},
            {"images", sum},
            {"channels", shape.channels},
            {"blocks", shape.blocks},
            {"batch", plan.batch},
            {"buffer", plan.buffer},
            {"steps", plan.steps},
            {"rate", plan.rate},
            {"rate_warmup", plan.rate_warmup},
            {"average_decay", work.protocol.network.average_decay},
            {"record_every", plan.record_every},
            {"validate_every", plan.validate_every},
            {"validation", {plan.validation_betas, plan.validation_chains}},
            {"seed", plan.seed}};
  if (cell.penalty > 0) d["energy_penalty"] = cell.penalty;
  if (cell.steady) {
    d["gwg_steps"] = plan.gwg_steps;
    d["rate_decay"] = plan.rate_decay;
    d["iterations"] = plan.iterations;  // which the rate depends on
  }
  return d.dump();
}

EbmSetup setup_of(const EbmCell& cell, const EbmWork& work, const ImageSet& images) {
  EbmSetup setup;
  setup.shape = work.protocol.shape;
  setup.shape.height = images.height, setup.shape.width = images.width;
  setup.sampler = cell.sampler;
  setup.settings = cell.settings();
  setup.plan = plan_of(cell, work);
  setup.folder = work.folder / cell.folder();
  setup.checkpoint_every = work.checkpoint_every;
  return setup;
}

Json evaluation_json(const EbmEvaluation& e) {
  return {{"images", e.images},
          {"mean_logp", e.mean_logp},
          {"forward", {e.forward, e.forward_error, e.forward_ess}},
          {"reverse", {e.reverse, e.reverse_error, e.reverse_ess}},
          {"log_likelihood", {e.low, e.high}},
          {"betas", e.betas},
          {"chains", e.chains},
          {"best_iteration", e.best_iteration},
          {"iterations", e.iterations},
          {"seconds", e.seconds}};
}

std::optional<EbmEvaluation> read_evaluation(const fs::path& path) {
  if (!fs::exists(path)) return std::nullopt;
  try {
    const Json j = Json::parse(text_of(path));
    EbmEvaluation e;
    e.images = j.at("images"), e.mean_logp = j.at("mean_logp");
    e.forward = j.at("forward").at(0), e.forward_error = j.at("forward").at(1);
    e.forward_ess = j.at("forward").at(2);
    e.reverse = j.at("reverse").at(0), e.reverse_error = j.at("reverse").at(1);
    e.reverse_ess = j.at("reverse").at(2);
    e.low = j.at("log_likelihood").at(0), e.high = j.at("log_likelihood").at(1);
    e.betas = j.at("betas"), e.chains = j.at("chains");
    e.best_iteration = j.at("best_iteration"), e.iterations = j.at("iterations");
    e.seconds = j.at("seconds");
    return e;
  } catch (const Json::exception& error) {
    throw DataError(path.string() + ": not an evaluation of saltus (" + error.what() + ")");
  }
}

// One cell at work.
class Worker {
 public:
  Worker(const EbmCell& cell, const EbmWork& work, const EbmMakers& makers)
      : cell_(cell),
        work_(work),
        makers_(makers),
        images_(makers.images(cell.dataset)),
        folder_(work.folder / cell.folder()) {
    if (work.protocol.images > 0) {
      images_ = first_images(std::move(images_), work.protocol.images);
    }
    fs::create_directories(folder_);
    std::string notes;
    for (const std::string& note : images_.notes) notes += note + "\n";
    if (!notes.empty()) replace_file(folder_ / kNotes, notes);
    write_data();
    description_ = description_of(cell, work, sum_of(images_));
    run_ = std::make_unique<EbmRun>(
        setup_of(cell, work, images_), images_,
        [&](ResnetEnergy start) { return makers.network(std::move(start), cell.penalty); });
    const fs::path checkpoint = EbmRun::checkpoint_in(folder_);
    if (!fs::exists(checkpoint)) return;
    if (read_checkpoint(checkpoint).description != description_) {
      throw UsageError(folder_.string() +
                       " holds what another protocol, seed, data or version made; name another "
                       "folder with --out");
    }
    run_->restore();
  }

  bool go() {
    if (failure().empty() && !learn()) return false;
    return !run_->learning().best() || evaluate_or_tell();
  }

 private:
  std::string failure() const { return text_of(folder_ / kFailure); }

  void write_data() const {
    if (!can_write_png()) return;
    const RowBuffer<Symbol> test = test_rows(images_);
    const Rows<Symbol> all = test.view();
    const Rows<const Symbol> first{all.data, std::min(all.rows, kPictures), all.cols, all.stride};
    write_png_grid(folder_ / kData, first,
                   {.height = images_.height, .width = images_.width, .scale = 2});
  }

  // False when it was stopped. What goes wrong is noted, and that is the end of the learning.
  bool learn() {
    const EbmLearning& learning = run_->learning();
    if (learning.done()) return true;
    const auto planned = run_->setup().plan.iterations;
    try {
      return run_->go(description_, [&](const EbmRun::Now& now) {
        return work_.watch(
            now.iteration
                ? fmt::format("{}: iteration {} of {}", cell_.name(), learning.iteration(), planned)
                : fmt::format("{}: validation after {} iterations, {:.0f} %", cell_.name(),
                              learning.iteration(), 100 * now.validated));
      });
    } catch (const ComputationError&) {
      throw;
    } catch (const DataError& e) {
      replace_file(folder_ / kFailure, e.what());
      return true;
    }
  }

  AisPlan plan() const {
    AisPlan plan;
    plan.annealing.betas = linear_betas(work_.protocol.betas);
    plan.annealing.chains = work_.protocol.chains;
    plan.annealing.seed = work_.seed;
    plan.annealing.threads = work_.threads;
    plan.warmup = work_.protocol.warmup;
    return plan;
  }

  // Chains of the learning at the time of the evaluated parameters, as often as needed: near the
  // model from the start.
  RowBuffer<Symbol> start_states() const {
    const RowBuffer<Symbol> samples = run_->learning().best_samples(work_.protocol.chains);
    const Rows<Symbol> from = samples.view();
    return gathered(work_.protocol.chains, from.cols, [&](int r) { return from[r % from.rows]; });
  }

  // What goes wrong is noted; the next call tries again.
  bool evaluate_or_tell() {
    fs::remove(folder_ / kProblem);
    try {
      return evaluate();
    } catch (const DataError& e) {
      replace_file(folder_ / kProblem, e.what());
      return true;
    }
  }

  bool evaluate() {
    const EbmLearning& learning = run_->learning();
    const EbmProtocol& protocol = work_.protocol;
    const auto before = read_evaluation(folder_ / kEvaluation);
    if (before && before->betas == protocol.betas && before->chains == protocol.chains &&
        before->best_iteration == learning.best()->iteration &&
        before->iterations == learning.iteration()) {
      return true;
    }
    const ResnetEnergy energy = run_->best();
    const std::vector<double> mean = energy.base_mean;
    const std::unique_ptr<Target> target = makers_.target(energy);
    const Tempered path(*target, Independent::bernoulli(target->domain(), mean));
    AisRun run(path, make_sampler("gwg", path, {{"flips", "1"}}), plan(), start_states().view());
    if (!estimate(run)) return false;
    write_evaluation(*target, run.result());
    return true;
  }

  // Of which parameters, and how.
  std::string ais_description() const {
    return description_ + fmt::format("; iteration {}; {} betas, {} chains, {} steps",
                                      run_->learning().best()->iteration, work_.protocol.betas,
                                      work_.protocol.chains, work_.protocol.warmup);
  }

  bool estimate(AisRun& run) {
    const fs::path file = folder_ / "log-z.checkpoint";
    if (fs::exists(file)) {
      const Checkpoint saved = read_checkpoint(file);
      ByteReader in(saved.state);
      if (saved.description == ais_description()) run.restore(in);
    }
    const auto save = [&] {
      ByteWriter out;
      run.save(out);
      write_checkpoint(file, ais_description(), out.bytes());
    };
    Pacer pacer(work_.checkpoint_every, 0, save);
    const bool complete = run.go([&](const AisStatus& status) {
      pacer.next();
      const char* stages[] = {"warm-up", "forward", "reverse"};
      return work_.watch(fmt::format("{}: log Z, {}, {:.0f} %", cell_.name(),
                                     stages[static_cast<int>(status.stage)], 100 * status.done));
    });
    save();
    return complete;
  }

  void write_evaluation(const Target& target, const AisResult& r) const {
    const RowBuffer<Symbol> test = test_rows(images_);
    EbmEvaluation e;
    e.images = test.view().rows;
    e.mean_logp = mean_logp(target, test.view(), work_.threads);
    e.forward = r.forward.log_z, e.forward_error = r.forward.standard_error;
    e.forward_ess = r.forward.ess;
    e.reverse = r.reverse->log_z, e.reverse_error = r.reverse->standard_error;
    e.reverse_ess = r.reverse->ess;
    const LikelihoodInterval ll = log_likelihood(e.mean_logp, r);
    e.low = ll.low, e.high = ll.high;
    e.betas = work_.protocol.betas, e.chains = work_.protocol.chains;
    e.best_iteration = run_->learning().best()->iteration;
    e.iterations = run_->learning().iteration();
    e.seconds = r.seconds;
    replace_file(folder_ / kEvaluation, evaluation_json(e).dump(1) + "\n");
  }

  EbmCell cell_;
  const EbmWork& work_;
  const EbmMakers& makers_;
  ImageSet images_;
  fs::path folder_;
  std::string description_;
  std::unique_ptr<EbmRun> run_;
};

}  // namespace

EbmProtocol EbmProtocol::full() {
  EbmProtocol p;
  p.plan.buffer = published_buffer("");
  return p;
}

EbmProtocol EbmProtocol::quick() {
  EbmProtocol p;
  p.shape.channels = 8, p.shape.blocks = 2;
  p.images = 100;
  p.plan.batch = 20, p.plan.buffer = 200, p.plan.steps = 10;
  p.plan.rate = 3e-3, p.plan.rate_warmup = 10;
  p.network.average_decay = 0.9;
  p.plan.iterations = 60, p.plan.validate_every = 30, p.plan.record_every = 5;
  p.plan.validation_betas = 100, p.plan.validation_chains = 16;
  p.betas = 150, p.chains = 16, p.warmup = 50;
  return p;
}

void EbmProtocol::reduce_evaluation() {
  betas = std::min(betas, 30'000), chains = std::min(chains, 100);
  warmup = std::min<std::uint64_t>(warmup, 5000);
}

std::uint64_t validations_every(const std::string& dataset, const EbmProtocol& protocol) {
  const std::uint64_t every = protocol.plan.validate_every;
  return dataset == "caltech" ? std::min(every, kCaltechValidations) : every;
}

std::string EbmCell::key() const {
  if (steady) return sampler + "_steady";
  if (penalty > 0) return sampler + "_bounded";
  if (tuned) return sampler + "_tuned";
  return rate > 0 ? sampler + "_" + kCaltechRateName : sampler;
}

Settings EbmCell::settings() const {
  if (sampler == "gwg") return {{"flips", "1"}};
  if (sampler == "gibbs") return {{"updates", "1"}};
  Settings settings = {{"step_size", fmt::format("{:g}", alpha)}};
  if (tuned) settings["adapt"] = "true";
  return settings;
}

const std::vector<EbmCell>& ebm_cells() {
  static const std::vector<EbmCell> cells = [] {
    struct Line {
      const char* dataset;
      double gibbs, gwg, dula, dmala;
    };
    std::vector<EbmCell> list;
    for (const Line& l : {Line{"static_mnist", -117.17, -80.01, -80.71, -79.46},
                          Line{"dynamic_mnist", -121.19, -80.51, -81.29, -79.54},
                          Line{"omniglot", -142.06, -94.72, -145.68, -91.11},
                          Line{"caltech", -163.50, -96.20, -100.52, -87.82}}) {
      list.push_back({l.dataset, "DMALA", "dmala", 0.15, l.dmala});
      list.push_back({l.dataset, "DMALA, tuned", "dmala", 0.15, NAN, true});
      list.push_back({l.dataset, "DMALA, bounded", "dmala", 0.15, NAN, true, kPenalty});
      list.push_back({l.dataset, "DMALA, steady", "dmala", 0.15, NAN, true, kPenalty, 0, true});
      list.push_back({l.dataset, "DULA", "dula", 0.1, l.dula});
      list.push_back({l.dataset, "GWG-1", "gwg", NAN, l.gwg});
      list.push_back({l.dataset, "Gibbs-1", "gibbs", NAN, l.gibbs});
    }
    const auto slow = [&](const std::string& label, const std::string& sampler, double alpha) {
      list.push_back({"caltech", label + ", rate " + kCaltechRateName, sampler, alpha, NAN, false,
                      0, kCaltechRate});
    };
    slow("DMALA", "dmala", 0.15), slow("DULA", "dula", 0.1), slow("GWG-1", "gwg", NAN);
    return list;
  }();
  return cells;
}

std::vector<EbmCell> chosen_cells(const std::vector<std::string>& only) {
  std::vector<EbmCell> chosen;
  for (const std::string& part : only.empty() ? image_set_names() : only) {
    const std::size_t before = chosen.size();
    for (const EbmCell& cell : ebm_cells()) {
      if (cell.name() == part || (cell.dataset == part && cell.published())) chosen.push_back(cell);
    }
    if (chosen.size() > before) continue;
    throw UsageError(fmt::format(
        "--only {}: the parts are {}, each of them also with /dmala, /dmala_tuned, /dmala_bounded, "
        "/dmala_steady, /dula, /gwg or /gibbs, and caltech with /dmala_1e-5, /dula_1e-5 or "
        "/gwg_1e-5",
        part, fmt::join(image_set_names(), ", ")));
  }
  return chosen;
}

bool work_on(const EbmCell& cell, const EbmWork& work, const EbmMakers& makers) {
  return Worker(cell, work, makers).go();
}

const Validation* EbmRecord::chosen() const {
  if (!evaluation) return best_of(validations);
  const auto found = std::find_if(validations.begin(), validations.end(), [&](const Validation& v) {
    return v.iteration == evaluation->best_iteration;
  });
  return found == validations.end() ? nullptr : &*found;
}

EbmRecord read_record(const EbmCell& cell, const fs::path& folder) {
  EbmRecord record;
  record.cell = cell;
  const fs::path own = folder / cell.folder();
  for (const std::vector<double>& v : read_table(own / "history.csv", 12)) {
    EbmInfo info;
    info.iteration = static_cast<std::uint64_t>(v[0]);
    info.data_logp = v[2], info.sample_logp = v[3];
    info.acceptance = v[4], info.proposed = v[5], info.changed = v[6], info.rate = v[7];
    info.step_size = v[8];
    info.sampling_seconds = v[9], info.update_seconds = v[10], info.seconds = v[11];
    record.history.push_back(info);
  }
  for (const std::vector<double>& v : read_table(own / "validation.csv", 8)) {
    record.validations.push_back(
        {static_cast<std::uint64_t>(v[0]), v[2], v[3], v[4], v[5], v[6], v[7]});
  }
  record.evaluation = read_evaluation(own / kEvaluation);
  record.failure = text_of(own / kFailure);
  record.problem = text_of(own / kProblem);
  std::istringstream notes(text_of(own / kNotes));
  for (std::string note; std::getline(notes, note);) record.notes.push_back(note);
  fs::path picture = own / "samples.png";
  if (!record.validations.empty()) {
    picture = own / fmt::format("samples-{:06}.png", record.validations.back().iteration);
  }
  record.samples = bytes_of(picture);
  record.data = bytes_of(own / kData);
  return record;
}

}  // namespace saltus::reproduce
