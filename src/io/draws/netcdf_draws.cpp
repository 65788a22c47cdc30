// Writes draws as netCDF-4 in the layout of ArviZ's InferenceData: the groups posterior (with the
// model's values) and sample_stats.
#include <cassert>
#include <cmath>
#include <ctime>
#include <limits>
#include <numeric>

#include "io/draws/formats.hpp"
#include "io/draws/netcdf_file.hpp"

namespace saltus {
namespace {

using netcdf::File;

constexpr std::size_t kChunkBytes = std::size_t{1} << 20;
constexpr int kDeflateLevel = 1;

struct Dimension {
  std::string name;
  std::size_t length;
};

struct Group {
  int id = 0;
  std::vector<Dimension> dimensions;
  std::vector<int> dimension_ids, coordinates;  // coordinates: a variable for each dimension
};

std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm utc = {};
  ::gmtime_r(&seconds, &utc);
  std::array<char, 32> text = {};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S+00:00", &utc);
  return text.data();
}

void put_text(const File& file, int group, const std::string& name, const std::string& text) {
  file.check(nc_put_att_text(group, NC_GLOBAL, name.c_str(), text.size(), text.data()));
}

void put_number(const File& file, int group, const char* name, double number, nc_type type) {
  file.check(nc_put_att_double(group, NC_GLOBAL, name, type, 1, &number));
}

void put_origin(const File& file, int group, const DrawsInfo& info, const std::string& time) {
  const auto version = info.attributes.find("version");
  put_text(file, group, "created_at", time);
  put_text(file, group, "inference_library", "saltus");
  put_text(file, group, "inference_library_version",
           version == info.attributes.end() ? "unknown" : version->second);
}

// All of DrawsInfo but the shape, which the dimensions tell.
void put_info(const File& file, int group, const DrawsInfo& info) {
  for (const auto& [name, text] : info.attributes) {
    if (!netcdf::is_own_attribute(name)) put_text(file, group, name, text);
  }
  put_text(file, group, "model", info.model);
  put_text(file, group, "sampler", info.sampler);
  put_number(file, group, "step_size", info.step_size, NC_DOUBLE);
  if (info.chains_of_run > 0) {
    put_number(file, group, "first_chain", static_cast<double>(info.first_chain), NC_INT64);
    put_number(file, group, "chains_of_run", static_cast<double>(info.chains_of_run), NC_INT64);
  }
  put_number(file, group, "levels", info.levels, NC_INT);
  put_number(file, group, "first_value", info.first_value, NC_DOUBLE);
  put_number(file, group, "spacing", info.spacing, NC_DOUBLE);
  if (!info.classes.empty()) {
    file.check(nc_put_att_int(group, NC_GLOBAL, "classes", NC_INT, info.classes.size(),
                              info.classes.data()));
  }
  if (!info.bonds.empty()) {
    file.check(
        nc_put_att_int(group, NC_GLOBAL, "bonds", NC_INT, info.bonds.size(), info.bonds.data()));
  }
  put_number(file, group, "exact", info.exact ? 1 : 0, NC_INT);
}

// About a MiB: whole draws of one chain, or a part of a draw where a draw is larger than that.
std::vector<std::size_t> chunk_shape(const std::vector<Dimension>& dimensions, std::size_t item) {
  std::vector<std::size_t> chunk = {1, 1};
  std::size_t bytes = item;
  for (std::size_t d = dimensions.size(); d-- > 2;) {
    const std::size_t room = std::max<std::size_t>(1, kChunkBytes / bytes);
    const std::size_t n = std::clamp<std::size_t>(dimensions[d].length, 1, room);
    chunk.insert(chunk.begin() + 2, n);
    bytes *= n;
  }
  const std::size_t room = std::max<std::size_t>(1, kChunkBytes / bytes);
  chunk[1] = std::clamp<std::size_t>(dimensions[1].length, 1, room);
  return chunk;
}

std::size_t item_size_of(nc_type type) {
  return type == NC_BYTE ? 1 : type == NC_SHORT ? 2 : type == NC_INT ? 4 : 8;
}

// A compressed variable over all dimensions of the group.
int define_variable(const File& file, const Group& group, const char* name, nc_type type) {
  int id = 0;
  file.check(nc_def_var(group.id, name, type, static_cast<int>(group.dimension_ids.size()),
                        group.dimension_ids.data(), &id));
  const auto chunk = chunk_shape(group.dimensions, item_size_of(type));
  file.check(nc_def_var_chunking(group.id, id, NC_CHUNKED, chunk.data()));
  file.check(nc_def_var_deflate(group.id, id, 1, 1, kDeflateLevel));
  // Every entry is written, so there is nothing to fill in first.
  file.check(nc_def_var_fill(group.id, id, NC_NOFILL, nullptr));
  return id;
}

Group define_group(const File& file, const char* name, std::vector<Dimension> dimensions) {
  Group group;
  group.dimensions = std::move(dimensions);
  file.check(nc_def_grp(file.id(), name, &group.id));
  for (const Dimension& d : group.dimensions) {
    int dimension = 0, coordinate = 0;
    file.check(nc_def_dim(group.id, d.name.c_str(), d.length, &dimension));
    file.check(nc_def_var(group.id, d.name.c_str(), NC_INT64, 1, &dimension, &coordinate));
    group.dimension_ids.push_back(dimension);
    group.coordinates.push_back(coordinate);
  }
  return group;
}

void put_coordinates(const File& file, const Group& group) {
  std::vector<long long> numbers;
  for (std::size_t d = 0; d < group.dimensions.size(); ++d) {
    const std::size_t length = group.dimensions[d].length;
    for (std::size_t first = 0; first < length; first += numbers.size()) {
      numbers.resize(std::min(kBlockEntries, length - first));
      std::iota(numbers.begin(), numbers.end(), static_cast<long long>(first));
      const std::size_t count = numbers.size();
      file.check(
          nc_put_vara_longlong(group.id, group.coordinates[d], &first, &count, numbers.data()));
    }
  }
}

std::vector<Dimension> dimensions_of(const Draws& draws, bool of_states) {
  std::vector<Dimension> dimensions = {{"chain", static_cast<std::size_t>(draws.chains())},
                                       {"draw", draws.draws()}};
  if (!of_states) return dimensions;
  std::vector<int> shape = draws.info().shape;
  const auto product = std::accumulate(shape.begin(), shape.end(), std::int64_t{1},
                                       [](std::int64_t a, int b) { return a * b; });
  if (shape.empty() || product != draws.dim()) shape = {draws.dim()};
  for (std::size_t k = 0; k < shape.size(); ++k) {
    dimensions.push_back({fmt::format("x_dim_{}", k), static_cast<std::size_t>(shape[k])});
  }
  return dimensions;
}

double value_of(const DrawsInfo& info, int level) {
  return info.first_value + info.spacing * level;
}

// The smallest integer type that holds every value of the model, or double.
nc_type type_of_values(const DrawsInfo& info) {
  if (info.first_value != std::floor(info.first_value) ||
      info.spacing != std::floor(info.spacing)) {
    return NC_DOUBLE;
  }
  const auto [low, high] = std::minmax({info.first_value, value_of(info, info.levels - 1)});
  const auto fits = [low = low, high = high](auto zero) {
    using Limits = std::numeric_limits<decltype(zero)>;
    return low >= Limits::min() && high <= Limits::max();
  };
  if (fits(std::int8_t{0})) return NC_BYTE;
  if (fits(std::int16_t{0})) return NC_SHORT;
  return fits(std::int32_t{0}) ? NC_INT : NC_DOUBLE;
}

// The library turns the values into the type of the variable.
void put_states(const File& file, const Group& group, int variable, nc_type type,
                const Draws& draws) {
  std::vector<double> value, block;
  for (int k = 0; k < draws.info().levels; ++k) value.push_back(value_of(draws.info(), k));
  std::vector<std::size_t> start(group.dimensions.size(), 0), count;
  for (const Dimension& d : group.dimensions) count.push_back(d.length);
  count[0] = 1;
  // Blocks are chunks, so that none is packed twice.
  const int rows = static_cast<int>(chunk_shape(group.dimensions, item_size_of(type))[1]);
  for (int chain = 0; chain < draws.chains(); ++chain) {
    start[0] = static_cast<std::size_t>(chain);
    for_each_state_block(draws, chain, rows, [&](std::size_t first, std::span<const Symbol> x) {
      assert(std::ranges::max(x) < draws.info().levels);
      block.resize(x.size());
      std::ranges::transform(x, block.begin(), [&](Symbol s) { return value[s]; });
      start[1] = first;
      count[1] = x.size() / static_cast<std::size_t>(draws.dim());
      file.check(nc_put_vara_double(group.id, variable, start.data(), count.data(), block.data()));
    });
  }
}

void put_statistics(const File& file, const Group& group, int lp, int acceptance_rate,
                    int step_size, const Draws& draws) {
  std::vector<double> numbers;
  for (int chain = 0; chain < draws.chains(); ++chain) {
    const auto put = [&](int variable, std::size_t first, std::span<const double> values) {
      const std::array<std::size_t, 2> start = {static_cast<std::size_t>(chain), first},
                                       count = {1, values.size()};
      file.check(nc_put_vara_double(group.id, variable, start.data(), count.data(), values.data()));
    };
    for_each_number_block(draws, chain, &Draws::read_logp, [&](std::size_t first, auto values) {
      put(lp, first, values);
      numbers.assign(values.size(), draws.info().step_size);
      put(step_size, first, numbers);
    });
    for_each_number_block(draws, chain, &Draws::read_acceptance,
                          [&](std::size_t first, auto rates) {
                            numbers.assign(rates.begin(), rates.end());
                            put(acceptance_rate, first, numbers);
                          });
  }
}

}  // namespace

void write_netcdf_draws(const std::filesystem::path& path, const std::string& name,
                        const Draws& draws) {
  const std::lock_guard lock(netcdf::library_mutex());
  const DrawsInfo& info = draws.info();
  const std::string time = now();
  File file(name, true);
  file.create(path);
  put_origin(file, file.id(), info, time);
  put_text(file, file.id(), "creation_library", "saltus");

  const Group posterior = define_group(file, "posterior", dimensions_of(draws, true));
  const nc_type type = type_of_values(info);
  const int x = define_variable(file, posterior, "x", type);
  const Group stats = define_group(file, "sample_stats", dimensions_of(draws, false));
  const int lp = define_variable(file, stats, "lp", NC_DOUBLE);
  const int acceptance_rate = define_variable(file, stats, "acceptance_rate", NC_DOUBLE);
  const int step_size = define_variable(file, stats, "step_size", NC_DOUBLE);
  for (const Group* group : {&posterior, &stats}) {
    put_origin(file, group->id, info, time);
    put_info(file, group->id, info);
    put_coordinates(file, *group);
  }
  put_states(file, posterior, x, type, draws);
  put_statistics(file, stats, lp, acceptance_rate, step_size, draws);
  file.close();
}

}  // namespace saltus
