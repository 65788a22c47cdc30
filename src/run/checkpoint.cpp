#include "saltus/run/checkpoint.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <iterator>

#include "saltus/core/bytes.hpp"

namespace saltus {
namespace {

// The number changes when the contents do.
constexpr char kMagic[8] = {'s', 'a', 'l', 't', 'u', 's', '0', '1'};

std::uint32_t checksum(std::span<const std::byte> bytes, std::uint32_t before = 0) {
  const auto* data = reinterpret_cast<const Bytef*>(bytes.data());
  return static_cast<std::uint32_t>(crc32_z(before, data, bytes.size()));
}

bool write_all(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(file, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return true;
}

// Writes the parts one after the other and waits until they are on the disk.
bool write_and_sync(const std::filesystem::path& path,
                    std::initializer_list<std::span<const std::byte>> parts) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return false;
  bool good = true;
  for (const auto& part : parts) good = good && write_all(file, part);
  good = good && ::fsync(file) == 0;
  const int reason = errno;
  ::close(file);
  errno = reason;
  return good;
}

// A rename is on the disk when its folder is.
void sync_folder(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

void write_checkpoint(const std::filesystem::path& path, const std::string& description,
                      std::span<const std::byte> state) {
  ByteWriter head;
  head.put(kMagic);
  head.put_array(std::span<const char>(description));
  head.put(state.size());
  const std::uint32_t sum = checksum(state, checksum(head.bytes()));
  const std::filesystem::path fresh = path.string() + ".new";
  const bool written =
      write_and_sync(fresh, {head.bytes(), state, std::as_bytes(std::span(&sum, 1))});
  if (!written || std::rename(fresh.c_str(), path.c_str()) != 0) {
    const std::string reason = std::strerror(errno);
    ::unlink(fresh.c_str());
    throw FileError("cannot write " + path.string() + ": " + reason, true);
  }
  sync_folder(path);
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
