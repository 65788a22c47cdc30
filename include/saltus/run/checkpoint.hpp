// Checkpoint files: a description of the run as text, its state as bytes, and a checksum.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace saltus {

struct Checkpoint {
  std::string description;       // JSON: what is run
  std::vector<std::byte> state;  // Run::save
};

// Replaces the file in one step: it is the old one or the new one, never half of one.
void write_checkpoint(const std::filesystem::path& path, const std::string& description,
                      std::span<const std::byte> state);

// Whether the file begins as a checkpoint of some version does.
bool is_checkpoint(const std::filesystem::path& path);

// Throws FileError when it cannot be read, DataError when it is damaged or not a checkpoint.
Checkpoint read_checkpoint(const std::filesystem::path& path);

// The contents of a checkpoint file between its magic number and its checksum.
Checkpoint parse_checkpoint(std::span<const std::byte> body);

}  // namespace saltus
