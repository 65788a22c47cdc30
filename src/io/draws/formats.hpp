// The formats behind write_draws and open_draws. Writers fill the file at `path`; errors call it
// `name`, because `path` is a temporary one.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

#include "saltus/run/draws.hpp"

namespace saltus {

// How many entries a reader takes at a time.
constexpr std::size_t kReadEntries = std::size_t{1} << 18;

void write_npz_draws(const std::filesystem::path& path, const std::string& name,
                     const Draws& draws);
std::unique_ptr<Draws> open_npz_draws(const std::filesystem::path& path);

void write_csv_draws(const std::filesystem::path& path, const std::string& name,
                     const Draws& draws);
std::unique_ptr<Draws> open_csv_draws(const std::filesystem::path& path);

#ifdef SALTUS_HAVE_NETCDF
void write_netcdf_draws(const std::filesystem::path& path, const std::string& name,
                        const Draws& draws);
std::unique_ptr<Draws> open_netcdf_draws(const std::filesystem::path& path);
#endif

}  // namespace saltus
