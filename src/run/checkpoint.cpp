#include "saltus/run/checkpoint.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "saltus/core/bytes.hpp"

namespace saltus {
namespace {

// The number changes when the contents do.
constexpr char kMagic[8] = {'s', 'a', 'l', 't', 'u', 's', '0', '1'};

std::uint32_t checksum(std::span<const std::byte> bytes) {
  uLong crc = crc32_z(0, nullptr, 0);
  crc = crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  return static_cast<std::uint32_t>(crc);
}

void write_and_sync(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  bool good = file >= 0;
  while (good && !bytes.empty()) {
    const ssize_t n = ::write(file, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    good = n > 0;
    if (good) bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  good = good && ::fsync(file) == 0;
  const std::string reason = std::strerror(errno);
  if (file >= 0) ::close(file);
  if (good) return;
  ::unlink(path.c_str());
  throw FileError("cannot write " + path.string() + ": " + reason, true);
}

}  // namespace

void write_checkpoint(const std::filesystem::path& path, const std::string& description,
                      std::span<const std::byte> state) {
  ByteWriter out;
  out.put(kMagic);
  out.put_array(std::span<const char>(description));
  out.put_array(state);
  out.put(checksum(out.bytes()));
  const std::filesystem::path fresh = path.string() + ".new";
  write_and_sync(fresh, out.bytes());
  std::filesystem::rename(fresh, path);
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
