#include "saltus/learn/ebm_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/bytes/byte_file.hpp"
#include "saltus/core/error.hpp"
#include "saltus/io/images.hpp"
#include "saltus/io/model_file.hpp"
#include "saltus/run/pacer.hpp"

namespace saltus {
namespace {

constexpr int kPictures = 100;  // images in a grid

std::string history_text(const std::vector<EbmInfo>& history) {
  std::string text =
      "iteration,loss,data_logp,sample_logp,acceptance,proposed,changed,learning_rate,"
      "step_size,sampling_seconds,update_seconds,seconds\n";
  for (const EbmInfo& i : history) {
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", i.iteration, i.loss(), i.data_logp,
                        i.sample_logp, i.acceptance, i.proposed, i.changed, i.rate, i.step_size,
                        i.sampling_seconds, i.update_seconds, i.seconds);
  }
  return text;
}

std::string validation_text(const std::vector<Validation>& validations) {
  std::string text =
      "iteration,log_likelihood,mean_logp,log_z,standard_error,ess,acceptance,seconds\n";
  for (const Validation& v : validations) {
    text += fmt::format("{},{},{},{},{},{},{},{}\n", v.iteration, v.log_likelihood(), v.mean_logp,
                        v.log_z, v.standard_error, v.ess, v.acceptance, v.seconds);
  }
  return text;
}

}  // namespace

Settings learning_settings(const std::string& sampler, Settings settings) {
  if (sampler == "dmala") settings.try_emplace("step_size", "0.15");
  if (sampler == "dula") settings.try_emplace("step_size", "0.1");
  if (sampler == "gwg" && !settings.contains("adapt")) settings.try_emplace("flips", "1");
  return settings;
}

std::unique_ptr<Sampler> validator_of(const std::string& sampler, const Settings& settings,
                                      const Target& target) {
  std::unique_ptr<Sampler> own = make_sampler(sampler, target, settings);
  if (own->exact() && own->needs(target).score) return own;
  Settings step;
  if (sampler == "dmala" || sampler == "dula") {
    if (const auto found = settings.find("step_size"); found != settings.end()) step.insert(*found);
  }
  return make_sampler("dmala", target, learning_settings("dmala", step));
}

EbmRun::EbmRun(EbmSetup setup, const ImageSet& images, const NetworkMaker& make)
    : setup_(std::move(setup)), mean_(base_mean(images, setup_.plan.seed)) {
  if (static_cast<int>(mean_.size()) != setup_.shape.pixels()) {
    throw DataError(fmt::format("the images have {} pixels, but the network {} x {}", mean_.size(),
                                setup_.shape.height, setup_.shape.width));
  }
  network_ = make(ResnetEnergy::random(setup_.shape, mean_, setup_.plan.seed));
  const Target& target = network_->target();
  learning_ = std::make_unique<EbmLearning>(
      *network_, Independent::bernoulli(target.domain(), mean_), images,
      make_sampler(setup_.sampler, target, setup_.settings),
      validator_of(setup_.sampler, setup_.settings, target), setup_.plan);
}

void EbmRun::restore() {
  if (learning_->idle()) return;
  const std::string file = checkpoint_in(setup_.folder).string();
  std::vector<std::byte> state;
  if (leads()) state = read_checkpoint(file).state;
  if (Team* const team = learning_->team()) state = team->share(state);
  ByteReader in(state);
  try {
    learning_->restore(in);
  } catch (const DataError& e) {
    throw DataError(file + ": the checkpoint does not fit (" + e.what() + ")");
  }
  if (setup_.plan.iterations < learning_->iteration()) {
    throw UsageError(fmt::format("{} has done {} iterations already", setup_.folder.string(),
                                 learning_->iteration()));
  }
}

bool EbmRun::go(const std::string& description, const std::function<bool(const Now&)>& watch) {
  if (learning_->idle()) return true;
  const SavePart part = [&](ByteWriter& out) { learning_->save(out); };
  bool complete = false;
  try {
    complete = work(description, watch);
  } catch (const DataError&) {
    // Where it went wrong, with the best parameters until then, and no validation under way.
    if (leads()) save(description, saved_together(nullptr, part));
    throw;
  }
  const std::vector<std::byte> state = saved_together(learning_->team(), part);
  if (!leads()) return complete;
  save(description, state);
  write_models();
  if (complete) write_picture("samples.png");
  return complete;
}

bool EbmRun::work(const std::string& description, const std::function<bool(const Now&)>& watch) {
  Team* const team = learning_->team();
  const SavePart part = [&](ByteWriter& out) { learning_->save(out); };
  const auto save_all = [&] { save(description, saved_by_all(team, part)); };
  const auto save_first = [&] {
    if (!std::filesystem::exists(checkpoint_in(setup_.folder))) save_all();
    return true;
  };
  agree(team, save_first, part);
  Pacer pacer(setup_.checkpoint_every, 0, save_all);
  const auto go_on = [&](const Now& now) {
    const auto leader_says = [&] {
      const bool wanted = watch(now);
      pacer.next();
      return wanted;
    };
    return agree(team, leader_says, part);
  };
  while (!learning_->done()) {
    bool on = true;
    if (learning_->validation_due()) {
      const bool complete = learning_->validate([&](double done) {
        return on = go_on({nullptr, done});
      });
      if (!complete) return false;
      write_validated();
    } else {
      const EbmInfo info = learning_->step();
      on = go_on({&info, 0});
    }
    if (!on) return learning_->done();
  }
  return true;
}

void EbmRun::save(const std::string& description, std::span<const std::byte> state) const {
  write_checkpoint(checkpoint_in(setup_.folder), description, state);
  write_tables();
}

void EbmRun::write_validated() const {
  if (!leads()) return;
  write_models();
  write_tables();
  write_picture(fmt::format("samples-{:06}.png", learning_->iteration()));
}

void EbmRun::write_tables() const {
  replace_file(setup_.folder / "history.csv", history_text(learning_->history()));
  replace_file(setup_.folder / "validation.csv", validation_text(learning_->validations()));
}

void EbmRun::write_models() const {
  write_model(setup_.folder / "last.json", last());
  if (learning_->best()) write_model(setup_.folder / "best.json", best());
}

void EbmRun::write_picture(const std::string& name) const {
  if (!can_write_png()) return;
  write_png_grid(setup_.folder / name, learning_->samples(kPictures).view(),
                 {.height = setup_.shape.height, .width = setup_.shape.width, .scale = 2});
}

}  // namespace saltus
