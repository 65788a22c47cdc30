// What a checkpoint says of the run that it holds, and requests made from it.
#include <nlohmann/json.hpp>

#include "service/description.hpp"
#include "service/kept_choice.hpp"
#include "service/parts.hpp"

namespace saltus {
namespace {

constexpr const char* kKeeps[] = {"memory", "arrays", "disk", "moments"};

Keep parse_keep(const std::string& text, const std::string& source) {
  for (int k = 0; k < 4; ++k) {
    if (text == kKeeps[k]) return static_cast<Keep>(k);
  }
  throw DataError(source + ": keep is " + text + ", expected memory, arrays, disk or moments");
}

TemperingRequest tempering_in(const nlohmann::json& json) {
  TemperingRequest t;
  json.at("replicas").get_to(t.replicas);
  json.at("betas").get_to(t.betas);
  json.at("steps").get_to(t.steps);
  json.at("base").get_to(t.base);
  json.at("probabilities").get_to(t.probabilities);
  return t;
}

}  // namespace

std::string describe_sample(const SampleRequest& r) {
  nlohmann::ordered_json d;
  d["version"] = version();
  d["sample"] = r.target->name();
  d["model"] = r.model_text;
  d["model_files"] = r.model_files;
  d["sampler"] = r.own_sampler ? r.own_sampler->name() : r.sampler;
  d["settings"] = r.settings;
  if (r.choice) d["choice"] = choice_to_json(*r.choice);
  d["chains"] = r.plan.chains;
  d["first_chain"] = r.plan.first_chain;
  d["chains_of_run"] = r.chains_of_run;
  d["warmup"] = r.plan.warmup;
  d["draws"] = r.plan.draws;
  d["thin"] = r.plan.thin;
  d["seed"] = std::to_string(r.plan.seed);
  d["tile"] = r.plan.tile;
  d["keep"] = kKeeps[static_cast<int>(r.keep)];
  d["coordinates"] = r.coordinates;
  if (!r.columns.empty()) d["columns"] = r.columns;
  d["observe"] = r.observe;
  d["notes"] = r.notes;
  if (const auto& t = r.tempering) {
    d["tempering"] = {{"replicas", t->replicas},
                      {"betas", t->betas},
                      {"steps", t->steps},
                      {"base", t->base},
                      {"probabilities", t->probabilities}};
  }
  return d.dump();
}

SampleRequest read_sample_checkpoint(const std::string& checkpoint) {
  return read_description<SampleRequest>(checkpoint, "sample", [&](JsonFields& d) {
    SampleRequest r;
    r.resume = r.checkpoint = checkpoint;
    r.model_text = d.string("model");
    r.model_files = d.at("model_files").get<std::map<std::string, std::string>>();
    r.sampler = d.string("sampler");
    r.settings = d.at("settings").get<Settings>();
    if (d.has("choice")) r.choice = choice_from_json(d.at("choice"));
    r.plan.chains = static_cast<int>(d.integer(d.at("chains"), "chains", 1, 1'000'000'000));
    r.plan.first_chain = static_cast<std::uint32_t>(whole_number(d, "first_chain", 0, UINT32_MAX));
    r.chains_of_run =
        static_cast<int>(d.integer(d.at("chains_of_run"), "chains_of_run", 0, 1'000'000'000));
    r.plan.warmup = whole_number(d, "warmup", 0);
    r.plan.draws = whole_number(d, "draws", 1);
    r.plan.thin = whole_number(d, "thin", 1);
    r.plan.seed = seed_in(d);
    r.plan.tile = static_cast<int>(d.integer(d.at("tile"), "tile", 0, 1'000'000));
    r.keep = parse_keep(d.string("keep"), checkpoint);
    r.coordinates = static_cast<int>(d.integer(d.at("coordinates"), "coordinates", 0, INT32_MAX));
    if (d.has("columns")) r.columns = d.at("columns").get<std::vector<int>>();
    r.observe = d.at("observe").get<std::vector<std::string>>();
    r.notes = d.at("notes").get<std::map<std::string, std::string>>();
    if (d.has("tempering")) r.tempering = tempering_in(d.at("tempering"));
    return r;
  });
}

void attach_saved_model(SampleRequest& r, const ModelOptions& options) {
  if (r.model_text.empty()) {
    throw UsageError(r.resume + " holds a run from a target that no model file describes");
  }
  Model model = load_saved_model(r.model_text, r.resume, options);
  for (const auto& [path, sum] : model.files) {
    if (r.model_files[path] == sum) continue;
    throw DataError(path + " has changed since " + r.resume + " was saved");
  }
  r.model_base = base_of_target(model);
  r.whole = model.whole;
  r.objective = model.objective;
  r.labels = labels_of(model.value);
  r.target = shared_target(std::move(model));
}

SampleRequest resumed_sample(const std::string& checkpoint, const ModelOptions& options) {
  SampleRequest r = read_sample_checkpoint(checkpoint);
  attach_saved_model(r, options);
  return r;
}

SampleRequest resumed_sample(const std::string& checkpoint, std::shared_ptr<const Target> target) {
  SampleRequest r = read_sample_checkpoint(checkpoint);
  r.target = std::move(target);
  return r;
}

}  // namespace saltus
