#include "saltus/run/checkpoint.hpp"

#include <zlib.h>

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>

#include "io/bytes/byte_file.hpp"
#include "saltus/core/bytes.hpp"

namespace saltus {
namespace {

// The number changes when the contents do.
constexpr char kMagic[8] = {'s', 'a', 'l', 't', 'u', 's', '0', '1'};

std::uint32_t checksum(std::span<const std::byte> bytes, std::uint32_t before = 0) {
  const auto* data = reinterpret_cast<const Bytef*>(bytes.data());
  return static_cast<std::uint32_t>(crc32_z(before, data, bytes.size()));
}

}  // namespace

void write_checkpoint(const std::filesystem::path& path, const std::string& description,
                      std::span<const std::byte> state) {
  ByteWriter head;
  head.put(kMagic);
  head.put_array(std::span<const char>(description));
  head.put(state.size());
  const std::uint32_t sum = checksum(state, checksum(head.bytes()));
  replace_file(path, [&](OutputFile& out) {
    out.append(head.bytes().data(), head.bytes().size());
    out.append(state.data(), state.size());
    out.append(&sum, sizeof sum);
  });
}

bool is_checkpoint(const std::filesystem::path& path) {
  std::array<char, sizeof kMagic> first{};
  std::ifstream file(path, std::ios::binary);
  return file.read(first.data(), first.size()) &&
         std::memcmp(first.data(), kMagic, sizeof kMagic - 2) == 0;  // of any version
}

Checkpoint read_checkpoint(const std::filesystem::path& path) {
  std::ifstream file;
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) file.open(path, std::ios::binary);
  if (!file.is_open()) throw FileError("cannot read the checkpoint " + path.string(), false);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  const std::span<const std::byte> bytes = std::as_bytes(std::span(content));
  const auto refuse = [&](const std::string& why) { throw DataError(path.string() + ": " + why); };
  if (bytes.size() < sizeof kMagic || std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0) {
    refuse("not a saltus checkpoint, or one of another version");
  }
  if (bytes.size() < sizeof kMagic + sizeof(std::uint32_t)) refuse("the checkpoint is cut off");
  const auto body = bytes.first(bytes.size() - sizeof(std::uint32_t));
  if (ByteReader(bytes.last(sizeof(std::uint32_t))).get<std::uint32_t>() != checksum(body)) {
    refuse("the checkpoint is damaged");
  }
  return parse_checkpoint(body.subspan(sizeof kMagic));
}

Checkpoint parse_checkpoint(std::span<const std::byte> body) {
  ByteReader in(body);
  Checkpoint checkpoint;
  checkpoint.description.resize(in.next_array_length(1));
  in.get_array(std::span<char>(checkpoint.description));
  checkpoint.state.resize(in.next_array_length(1));
  in.get_array(std::span<std::byte>(checkpoint.state));
  return checkpoint;
}

}  // namespace saltus
