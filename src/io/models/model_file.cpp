#include "saltus/io/model_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <sstream>
#include <utility>

#include "core/closest_name.hpp"
#include "io/bytes/byte_file.hpp"
#include "io/bytes/gzip.hpp"
#include "io/models/factors_json.hpp"
#include "io/models/given_model.hpp"
#include "io/models/graph_json.hpp"
#include "io/models/json_fields.hpp"
#include "io/models/labels_json.hpp"
#include "io/models/model_text.hpp"
#include "io/models/weights_file.hpp"
#include "io/problems/formats.hpp"
#include "saltus/core/error.hpp"
#include "saltus/cuda/module.hpp"
#include "saltus/target/constrained.hpp"
#include "saltus/target/poisson.hpp"
#include "saltus/torch/module.hpp"

namespace saltus {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;
constexpr int kMaxDim = 100'000'000;
// A checkpoint holds the text of a model file up to this size, and the path of a larger one.
constexpr std::size_t kMostText = 1'000'000;

std::string element(const std::string& field, std::size_t i) {
  return field + "[" + std::to_string(i) + "]";
}

// A number for each coordinate; where the field is missing, zeros.
std::vector<double> numbers_or_zeros(JsonFields& fields, const std::string& field, std::size_t n) {
  if (!fields.has(field)) return std::vector<double>(n);
  std::vector<double> v = fields.numbers(field);
  if (v.size() != n) {
    fields.refuse(field, fmt::format("has {} entries; there are {} coordinates", v.size(), n));
  }
  return v;
}

// One entry, [i, j, w]. Names of places are made for refusals alone: a file may have millions.
Coupling coupling(const JsonFields& fields, const Json& entry, const std::string& field,
                  std::size_t at, int n) {
  if (!entry.is_array() || entry.size() != 3) {
    fields.refuse(element(field, at), "is not a triple [i, j, weight]");
  }
  const auto index = [&](std::size_t k) {
    if (entry[k].is_number_unsigned() && entry[k].get<std::uint64_t>() < std::uint64_t(n)) {
      return entry[k].get<int>();
    }
    return fields.size(entry[k], element(element(field, at), k), 0, n - 1);
  };
  const int i = index(0), j = index(1);
  const double w = entry[2].is_number() ? entry[2].get<double>() : NAN;
  if (!std::isfinite(w)) fields.number(entry[2], element(element(field, at), 2));
  return {i, j, w};
}

// Names the first entry that repeats a pair.
void check_distinct(const JsonFields& fields, std::vector<std::pair<int, int>> pairs,
                    const std::string& field) {
  std::vector<std::pair<int, int>> sorted = pairs;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end()) return;
  std::set<std::pair<int, int>> seen;
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    if (seen.insert(pairs[k]).second) continue;
    fields.refuse(element(field, k),
                  fmt::format("repeats the pair ({}, {})", pairs[k].first, pairs[k].second));
  }
}

// [[i, j, w], ...]. Pairs are distinct; with `symmetric`, (i, j) and (j, i) are the same pair and
// (i, i) is not allowed.
std::vector<Coupling> couplings(JsonFields& fields, const std::string& field, int n,
                                bool symmetric) {
  const Json& entries = fields.array(fields.at(field), field);
  std::vector<Coupling> list;
  std::vector<std::pair<int, int>> pairs;
  list.reserve(entries.size()), pairs.reserve(entries.size());
  for (const Json& entry : entries) {
    const Coupling c = coupling(fields, entry, field, list.size(), n);
    if (symmetric && c.i == c.j) {
      fields.refuse(element(field, list.size()),
                    fmt::format("couples coordinate {} to itself", c.i));
    }
    list.push_back(c);
    pairs.push_back(symmetric ? std::minmax({c.i, c.j}) : std::pair(c.i, c.j));
  }
  check_distinct(fields, std::move(pairs), field);
  return list;
}

// A constant of log p; 0 where it is missing.
double constant_in(JsonFields& fields) {
  return fields.has("constant") ? fields.number("constant") : 0;
}

AnyModel read_ising(JsonFields& fields) {
  const int n = fields.size("n", 1, kMaxDim);
  auto field = numbers_or_zeros(fields, "fields", static_cast<std::size_t>(n));
  auto pairs = couplings(fields, "couplings", n, true);
  const std::vector<int> levels(static_cast<std::size_t>(n), 2);
  return IsingModel{n, std::move(pairs), std::move(field), constant_in(fields),
                    read_labels(fields, levels)};
}

AnyModel read_ising_lattice(JsonFields& fields) {
  const Json& shape = fields.array(fields.at("shape"), "shape");
  if (shape.empty()) fields.refuse("shape", "is empty; it must have a length for each side");
  LatticeModel model;
  int sites = 1;
  for (const Json& side : shape) {
    const std::string where = element("shape", model.shape.size());
    sites *= model.shape.emplace_back(fields.size(side, where, 1, kMaxDim / sites));
  }
  model.periodic = fields.has("periodic") && fields.boolean("periodic");
  model.a = fields.number("a");
  model.b = fields.has("b") ? fields.number("b") : 0;
  model.constant = constant_in(fields);
  return model;
}

AnyModel read_bernoulli(JsonFields& fields) {
  std::vector<double> logits = fields.numbers("logits");
  if (logits.empty()) fields.refuse("logits", "is empty");
  const std::vector<int> levels(logits.size(), 2);
  return BernoulliModel{std::move(logits), 0, read_labels(fields, levels)};
}

// A list, or one number for all coordinates; `list` has an entry for each of them.
std::vector<int> level_list(JsonFields& fields, std::size_t n, const std::string& list) {
  const Json& value = fields.at("levels");
  if (!value.is_array()) return std::vector<int>(n, fields.size("levels", 2, Domain::kMaxLevels));
  std::vector<int> levels;
  for (const Json& entry : fields.array(value, "levels")) {
    levels.push_back(fields.size(entry, element("levels", levels.size()), 2, Domain::kMaxLevels));
  }
  if (levels.empty()) fields.refuse("levels", "is empty");
  if (levels.size() != n) {
    fields.refuse("levels", fmt::format("has {} entries; {} has {}", levels.size(), list, n));
  }
  return levels;
}

Domain quadratic_domain(JsonFields& fields, std::size_t n) {
  std::vector<int> levels = level_list(fields, n, "b");
  const std::string values = fields.has("values") ? fields.string("values") : "index";
  if (values == "index") return Domain::ordered(std::move(levels));
  if (values != "spin") {
    fields.refuse("values", "is \"" + values + "\"; it must be \"index\" or \"spin\"");
  }
  for (const int l : levels) {
    if (l == 2) continue;
    fields.refuse("levels", fmt::format("has a coordinate with {} levels, but spins have 2", l));
  }
  return Domain::spin(static_cast<int>(n));
}

AnyModel read_quadratic(JsonFields& fields) {
  std::vector<double> b = fields.numbers("b");
  if (b.empty()) fields.refuse("b", "is empty");
  Domain domain = quadratic_domain(fields, b.size());
  auto a = couplings(fields, "A", domain.dim(), false);
  std::vector<int> levels;
  for (int i = 0; i < domain.dim(); ++i) levels.push_back(domain.levels(i));
  Labels labels = read_labels(fields, levels);
  return QuadraticModel{std::move(domain), std::move(a), std::move(b), constant_in(fields),
                        std::move(labels)};
}

// A list of rows of numbers, one after the other; row i must have lengths[i] entries.
std::vector<double> rows_of_numbers(JsonFields& fields, const Json& value, const std::string& where,
                                    const std::vector<int>& lengths) {
  if (fields.array(value, where).size() != lengths.size()) {
    fields.refuse(where, fmt::format("has {} rows, not {}", value.size(), lengths.size()));
  }
  std::vector<double> all;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const std::vector<double> row = fields.numbers(value[i], element(where, i));
    if (row.size() != static_cast<std::size_t>(lengths[i])) {
      fields.refuse(element(where, i),
                    fmt::format("has {} entries, not {}", row.size(), lengths[i]));
    }
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

PottsEdge potts_edge(JsonFields& fields, const Json& entry, const std::string& where,
                     const std::vector<int>& levels) {
  if (!entry.is_object()) fields.refuse(where, "is not an object");
  for (const auto& [key, value] : entry.items()) {
    if (key != "between" && key != "table")
      fields.refuse(where, "has an unknown field '" + key + "'");
  }
  if (!entry.contains("between") || !entry.contains("table"))
    fields.refuse(where, "needs between and table");
  const Json& between = entry["between"];
  if (!between.is_array() || between.size() != 2)
    fields.refuse(where + ".between", "is not a pair [i, j]");
  const int last = static_cast<int>(levels.size()) - 1;
  const int i = fields.size(between[0], where + ".between[0]", 0, last);
  const int j = fields.size(between[1], where + ".between[1]", 0, last);
  if (i == j) fields.refuse(where + ".between", fmt::format("joins site {} to itself", i));
  const auto levels_of = [&](int site) { return levels[static_cast<std::size_t>(site)]; };
  const std::vector<int> lengths(static_cast<std::size_t>(levels_of(i)), levels_of(j));
  return {i, j, rows_of_numbers(fields, entry["table"], where + ".table", lengths)};
}

AnyModel read_potts(JsonFields& fields) {
  const bool listed = fields.at("levels").is_array();
  const std::size_t n =
      (listed ? fields.at("levels") : fields.array(fields.at("unary"), "unary")).size();
  if (n == 0) fields.refuse(listed ? "levels" : "unary", "is empty");
  const std::vector<int> levels = level_list(fields, n, "unary");
  std::vector<double> unary =
      fields.has("unary")
          ? rows_of_numbers(fields, fields.at("unary"), "unary", levels)
          : std::vector<double>(std::accumulate(levels.begin(), levels.end(), std::size_t{0}));
  std::vector<PottsEdge> edges;
  std::set<std::pair<int, int>> seen;
  for (const Json& entry : fields.array(fields.at("pairwise"), "pairwise")) {
    const std::string where = element("pairwise", edges.size());
    const PottsEdge& e = edges.emplace_back(potts_edge(fields, entry, where, levels));
    if (!seen.insert(std::minmax(e.i, e.j)).second) {
      fields.refuse(where, fmt::format("repeats the pair ({}, {})", e.i, e.j));
    }
  }
  return PottsModel{Domain::categorical(levels), std::move(unary), std::move(edges),
                    constant_in(fields), read_labels(fields, levels)};
}

AnyModel read_poisson(JsonFields& fields) {
  const std::vector<double> rates = fields.numbers("rate");
  if (rates.empty()) fields.refuse("rate", "is empty");
  for (std::size_t i = 0; i < rates.size(); ++i) {
    if (rates[i] > 0 && rates[i] <= Poisson::kMaxRate) continue;
    fields.refuse(element("rate", i),
                  "is " + Json(rates[i]).dump() + "; it must be above 0 and at most 60000");
  }
  return PoissonModel{rates};
}

// Weights from the model file itself, or from arrays of the same names in a file beside it.
AnyModel read_rbm(JsonFields& fields) {
  if (fields.has("weights_file")) {
    const std::string file = fields.string("weights_file");
    const NamedArray weights = read_array(file, "weights");
    const NamedArray visible = read_array(file, "visible_bias");
    const NamedArray hidden = read_array(file, "hidden_bias");
    if (weights.shape.size() != 2 || weights.shape[0] != hidden.values.size() ||
        weights.shape[1] != visible.values.size() || weights.values.empty()) {
      fields.refuse("weights_file", "holds weights that are not hidden x visible");
    }
    return RbmModel{weights.values, visible.values, hidden.values};
  }
  std::vector<double> visible = fields.numbers("visible_bias"),
                      hidden = fields.numbers("hidden_bias");
  if (visible.empty()) fields.refuse("visible_bias", "is empty");
  if (hidden.empty()) fields.refuse("hidden_bias", "is empty");
  const std::vector<int> lengths(hidden.size(), static_cast<int>(visible.size()));
  std::vector<double> weights = rows_of_numbers(fields, fields.at("weights"), "weights", lengths);
  return RbmModel{std::move(weights), std::move(visible), std::move(hidden)};
}

AnyModel read_script(JsonFields& fields) {
  const std::string file = fields.string("script"), kind = fields.string("domain");
  const int dim = fields.size("dim", 1, kMaxDim);
  const auto levels = [&] { return fields.size("levels", 2, Domain::kMaxLevels); };
  if (kind == "binary") return ScriptModel{file, Domain::binary(dim)};
  if (kind == "spin") return ScriptModel{file, Domain::spin(dim)};
  if (kind == "ordered") return ScriptModel{file, Domain::ordered(dim, levels())};
  if (kind == "categorical") return ScriptModel{file, Domain::categorical(dim, levels())};
  fields.refuse("domain", "is \"" + kind +
                              "\"; it must be \"binary\", \"spin\", \"ordered\" or "
                              "\"categorical\"");
}

AnyModel read_value(const Json& json, const std::string& source) {
  static const std::map<std::string, std::function<AnyModel(JsonFields&)>> readers = {
      {"bernoulli", read_bernoulli},
      {"factors", read_factors},
      {"graph", read_graph_json},
      {"ising", read_ising},
      {"ising-lattice", read_ising_lattice},
      {"poisson", read_poisson},
      {"potts", read_potts},
      {"quadratic", read_quadratic},
      {"rbm", read_rbm},
      {"resnet-ebm", read_resnet},
      {"torch", read_script},
  };
  JsonFields fields(json, source);
  const std::string kind = fields.string("model");
  const auto reader = readers.find(kind);
  if (reader == readers.end()) {
    std::string known;
    for (const auto& [name, read] : readers) known += (known.empty() ? "" : ", ") + name;
    fields.refuse("model", "is \"" + kind + "\"; it must be one of " + known);
  }
  AnyModel model = reader->second(fields);
  fields.finish();
  return model;
}

// The target of a model on the device of the options' choice.
void add_target(Model& model, const std::string& source, const ModelOptions& options) {
  const DeviceChoice& choice = options.device;
  if (const auto* script = std::get_if<ScriptModel>(&model.value)) {
    if (!options.scripts) {
      throw UsageError(source + " runs a TorchScript file, and scripts are not allowed here");
    }
    model.target = torch_module("the script " + script->file.string())
                       .script(script->file, script->domain, choice);
    return;
  }
  if (const auto* network = std::get_if<ResnetEnergy>(&model.value)) {
    model.target = torch_module("the model resnet-ebm").resnet(*network, choice);
    return;
  }
  model.target = make_target(model.value);
  if (choice.precision) {
    throw UsageError("a precision can be chosen for networks; the model " + model.target->name() +
                     " has its own");
  }
  if (choice.device == Device::cpu) return;
  auto there = cuda_module("the device cuda").on_device(*model.target);
  model.on_host = std::exchange(model.target, std::move(there));
}

// The fields that name a file.
constexpr const char* kFileFields[] = {"weights_file", "script"};

// A file that the model names lies relative to the model file; what is kept stands on its own.
void make_paths_absolute(Json& json, const std::string& source, const fs::path& folder) {
  for (const char* field : kFileFields) {
    if (!json.is_object() || !json.contains(field) || !json[field].is_string()) continue;
    const std::string name = json[field].get<std::string>();
    if (name.empty() || name.find('\0') != std::string::npos) {
      throw DataError(source + ": " + field + " is not the name of a file");
    }
    json[field] = fs::absolute(folder / name).lexically_normal().string();
  }
}

// Reads the value and notes the names of the files that it was made from.
Model read_text(const std::string& text, const std::string& source, const fs::path& folder) {
  Json json = parse_strictly(text, source);
  make_paths_absolute(json, source, folder);
  Model model;
  model.value = read_value(json, source);
  model.text = json.dump();
  for (const char* field : kFileFields) {
    if (!json.contains(field)) continue;
    model.files[json[field].get<std::string>()];  // and its checksum: see complete
  }
  return model;
}

// What the options change, for a checkpoint; empty where they are the usual ones.
Json options_json(const ProblemOptions& options) {
  Json json = Json::object();
  if (!options.format.empty()) json["format"] = options.format;
  if (options.beta != 1) json["beta"] = options.beta;
  if (options.maximise) json["maximise"] = true;
  if (!options.vartype.empty()) json["vartype"] = options.vartype;
  if (!options.problem.empty()) json["problem"] = options.problem;
  if (options.penalty) json["penalty"] = *options.penalty;
  if (options.colours) json["colours"] = options.colours;
  if (options.parts) json["parts"] = options.parts;
  if (options.hard) json["hard"] = true;
  return json;
}

ProblemOptions options_in(const Json& json, const std::string& source) {
  JsonFields fields(json, source + ": options");
  ProblemOptions options;
  if (fields.has("format")) options.format = fields.string("format");
  if (fields.has("beta")) options.beta = fields.number("beta");
  if (fields.has("maximise")) options.maximise = fields.boolean("maximise");
  if (fields.has("vartype")) options.vartype = fields.string("vartype");
  if (fields.has("problem")) options.problem = fields.string("problem");
  if (fields.has("penalty")) options.penalty = fields.number("penalty");
  if (fields.has("colours")) options.colours = fields.size("colours", 0, Domain::kMaxLevels);
  if (fields.has("parts")) options.parts = fields.size("parts", 0, Domain::kMaxLevels);
  if (fields.has("hard")) options.hard = fields.boolean("hard");
  fields.finish();
  return options;
}

// What stands in a checkpoint for a file that is large, or of another program's format.
std::string reference_to(const fs::path& path, const ProblemOptions& options = {}) {
  Json json = {{"model_file", path.string()}, {"checksum", checksum_of_file(path)}};
  if (Json changed = options_json(options); !changed.empty()) json["options"] = std::move(changed);
  return json.dump();
}

// Adds the target, then the checksums: that a part of saltus is missing is said before that a file
// is.
Model complete(Model model, const std::string& source, const ModelOptions& options) {
  if (!options.given.empty()) refuse_device_with_given(model, options);
  add_target(model, source, options);
  if (!options.given.empty()) leave_free(model, options.given, options.constraint);
  restrict_target(model, options.constraint);
  for (auto& [path, sum] : model.files) sum = checksum_of_file(path);
  return model;
}

// Multiplies log p. The text of a small model is that of the result.
void heat(Model& model, double beta) {
  if (beta == 1) return;
  model.value = scaled(std::move(model.value), beta);
  model.text = inline_text(model.value);
}

// What is not a plain file (a pipe, say) is read to its end first; `held` keeps it.
ByteSource source_of(const std::string& name, std::string& held) {
  std::error_code ignored;
  if (fs::is_regular_file(name, ignored)) return range_bytes(open_maybe_packed(name), name);
  std::ifstream file(name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  held = std::move(text).str();
  return memory_bytes(std::as_bytes(std::span(held)), name);
}

Model read_file(const std::string& name, const ProblemOptions& options) {
  constexpr std::uint64_t kLongestJson = std::uint64_t{1} << 34;
  const fs::path path = fs::absolute(name).lexically_normal();
  std::string held;
  const ByteSource source = source_of(name, held);
  const ProblemFormat* format = format_of(source, options);
  if (!format) {
    const std::string text = text_of(source, kLongestJson);
    Model model = read_text(text, name, path.parent_path());
    heat(model, options.beta);
    if (text.size() > kMostText) model.text = reference_to(path, options);
    return model;
  }
  Model model = format->read(source, options);
  model.text = reference_to(path, options);
  return model;
}

}  // namespace

std::vector<std::string> problem_format_names() {
  std::vector<std::string> names = {"json"};
  for (const ProblemFormat& format : problem_formats()) names.emplace_back(format.name);
  return names;
}

Model read_model(const std::string& file_or_name, const ProblemOptions& options) {
  if (!(options.beta > 0) || !std::isfinite(options.beta)) {
    throw UsageError("beta must be a finite number above 0");
  }
  std::vector<std::string> names;
  for (const BuiltInModel& built_in : built_in_models()) {
    names.push_back(built_in.name);
    if (built_in.name != file_or_name) continue;
    ProblemOptions others = options;
    others.beta = 1;
    if (others != ProblemOptions{}) {
      throw UsageError("the built-in model " + file_or_name +
                       " takes no options of problem files but beta");
    }
    Model model = read_text(built_in.text, built_in.name, {});
    heat(model, options.beta);
    return model;
  }
  std::error_code ignored;
  if (fs::is_directory(file_or_name, ignored) || !std::ifstream(file_or_name).is_open()) {
    throw NoModel("there is no model file and no built-in model '" + file_or_name + "'" +
                  did_you_mean(file_or_name, names));
  }
  return read_file(file_or_name, options);
}

Model parse_model(const std::string& text, const std::string& source, const fs::path& folder,
                  const ModelOptions& options) {
  return complete(read_text(text, source, folder), source, options);
}

Model load_model(const std::string& file_or_name, const ModelOptions& options) {
  return complete(read_model(file_or_name, options.problem), file_or_name, options);
}

std::string without_constraint(const std::string& model_text) {
  if (model_text.empty()) return model_text;
  Json json = Json::parse(model_text);
  if (json.is_object()) json.erase(kConstraintField);
  return json.dump();
}

Model load_saved_model(const std::string& text, const std::string& source,
                       const ModelOptions& options) {
  Json json = parse_strictly(text, source);
  ModelOptions restricted = options;
  if (json.is_object() && json.contains(kConstraintField)) {
    restricted.constraint = JsonFields(json, source).string(kConstraintField);
    json.erase(kConstraintField);
    return load_saved_model(json.dump(), source, restricted);
  }
  if (json.is_object() && json.contains("given")) {
    JsonFields fields(json, source);
    ModelOptions of_whole = options;
    of_whole.given = fields.string("given");
    const std::string whole = fields.string("of");
    fields.finish();
    return load_saved_model(whole, source, of_whole);
  }
  if (!json.is_object() || !json.contains("model_file")) {
    return parse_model(text, source, {}, options);
  }
  JsonFields fields(json, source);
  const std::string file = fields.string("model_file"), sum = fields.string("checksum");
  ProblemOptions problem;
  if (fields.has("options")) problem = options_in(fields.at("options"), source);
  fields.finish();
  Model model = read_model(file, problem);
  if (model.text != text) throw DataError(file + " has changed since " + source + " was saved");
  return complete(std::move(model), file, options);
}

std::shared_ptr<const Target> shared_target(Model model) {
  const auto owner = std::make_shared<const Model>(std::move(model));
  return {owner, owner->target.get()};
}

}  // namespace saltus
