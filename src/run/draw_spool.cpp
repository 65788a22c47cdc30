#include "saltus/run/draw_spool.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "io/bytes/new_file.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw FileError("cannot " + what + ": " + std::strerror(errno), true);
}

Descriptor open_unnamed() {
  const std::string folder = temporary_folder().string();
  std::string name = folder + "/saltus-draws-XXXXXX";
  Descriptor file(::mkostemp(name.data(), O_CLOEXEC));
  if (file.get() < 0) fail("create a temporary file in " + folder);
  ::unlink(name.c_str());
  return file;
}

// A new file that was not there before, under any name.
Descriptor create(const std::filesystem::path& path) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (file.get() < 0) fail("write '" + path.string() + "'");
  return file;
}

Descriptor open_again(const std::filesystem::path& path) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status = {};
  const bool found = file.get() >= 0 && ::fstat(file.get(), &status) == 0;
  if (!found || !S_ISREG(status.st_mode)) {
    throw FileError("cannot read the draws '" + path.string() +
                        "': " + (found ? "it is not a regular file" : std::strerror(errno)),
                    false);
  }
  return file;
}

std::uint32_t extend_checksum(std::uint32_t sum, const void* data, std::size_t size) {
  return static_cast<std::uint32_t>(crc32_z(sum, static_cast<const Bytef*>(data), size));
}

void write_all(int file, const std::string& name, std::uint64_t offset, const void* data,
               std::size_t size) {
  const char* from = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t n = ::pwrite(file, from, size, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("write '" + name + "'");
    from += n;
    offset += static_cast<std::uint64_t>(n);
    size -= static_cast<std::size_t>(n);
  }
}

}  // namespace

DrawSpool::DrawSpool(DrawsInfo info, int dim, int chains, std::vector<int> coordinates,
                     const std::filesystem::path& path)
    : info_(std::move(info)),
      chains_(chains),
      coordinates_(std::move(coordinates)),
      cols_(coordinates_.empty() ? static_cast<std::size_t>(dim) : coordinates_.size()),
      width_(info_.levels <= 256 ? 1 : 2),
      name_(path.empty() ? "the temporary file of draws" : path.string()),
      path_(path),
      made_(static_cast<std::size_t>(chains)) {
  if (path_.empty()) file_ = open_unnamed();
}

std::size_t DrawSpool::bytes_per_draw() const {
  return static_cast<std::size_t>(chains_) * (cols_ * width_ + sizeof(double) + sizeof(float));
}

std::uint64_t DrawSpool::block_bytes(std::uint64_t draws) const {
  return sizeof(std::uint64_t) + draws * bytes_per_draw();
}

void DrawSpool::begin_round(std::uint64_t draws) {
  room_ = draws;
  const std::size_t rows = draws * static_cast<std::size_t>(chains_);
  states_.resize(states_bytes(rows));
  logp_.resize(rows);
  acceptance_.resize(rows);
  std::fill(made_.begin(), made_.end(), 0);
}

void DrawSpool::record(const Tile& tile, std::span<const StepInfo> info, std::uint64_t draw) {
  for (int r = 0; r < tile.rows(); ++r) {
    const std::size_t chain = tile.first_slot + static_cast<std::size_t>(r);
    const std::size_t row = chain * room_ + draw;
    const Symbol* x = tile.x[r];
    std::byte* out = states_.data() + states_bytes(row);
    for (std::size_t c = 0; c < cols_; ++c) {
      const Symbol k = coordinates_.empty() ? x[c] : x[coordinates_[c]];
      if (width_ == 1) {
        out[c] = static_cast<std::byte>(k);
      } else {
        std::memcpy(out + 2 * c, &k, 2);
      }
    }
    logp_[row] = tile.logp[r];
    acceptance_[row] = static_cast<float>(info[static_cast<std::size_t>(r)].acceptance);
    made_[chain] = draw + 1;
  }
}

void DrawSpool::end_round() {
  const std::uint64_t draws = made_[0];
  if (draws == 0) return;
  if (file_.get() < 0) file_ = create(path_);
  std::uint64_t offset = length_;
  std::uint32_t sum = checksum_;
  const auto append = [&](const void* data, std::size_t size) {
    write_all(file_.get(), name_, offset, data, size);
    sum = extend_checksum(sum, data, size);
    offset += size;
  };
  // The draws of each chain lie in a row; where the round is full, nothing is between the rows.
  const auto append_rows = [&](const void* data, std::size_t bytes_per_draw) {
    const auto* from = static_cast<const std::byte*>(data);
    if (draws == room_) return append(from, made_.size() * draws * bytes_per_draw);
    for (std::size_t c = 0; c < made_.size(); ++c) {
      append(from + c * room_ * bytes_per_draw, draws * bytes_per_draw);
    }
  };
  append(&draws, sizeof draws);
  append_rows(states_.data(), states_bytes(1));
  append_rows(logp_.data(), sizeof(double));
  append_rows(acceptance_.data(), sizeof(float));
  blocks_.push_back({length_, draws_, draws});
  draws_ += draws;
  length_ = offset;
  checksum_ = sum;
  std::fill(made_.begin(), made_.end(), 0);
}

// Draws `first`, first + 1, ... of all chains of the parts as one round.
void DrawSpool::append(const std::vector<const Draws*>& parts, std::size_t first,
                       std::uint64_t count) {
  begin_round(count);
  const RowBuffer<Symbol> x(static_cast<int>(count), dim());
  std::size_t to = 0;
  for (const Draws* part : parts) {
    for (int chain = 0; chain < part->chains(); ++chain, to += count) {
      part->read_states(chain, first, x.view());
      for (std::size_t t = 0; t < count; ++t) {
        const Symbol* row = x.view()[static_cast<int>(t)];
        std::byte* out = states_.data() + states_bytes(to + t);
        for (std::size_t c = 0; c < cols_; ++c) std::memcpy(out + c * width_, row + c, width_);
      }
      part->read_logp(chain, first, std::span(logp_).subspan(to, count));
      part->read_acceptance(chain, first, std::span(acceptance_).subspan(to, count));
    }
  }
  std::fill(made_.begin(), made_.end(), count);
  end_round();
}

void DrawSpool::merge(const Recorder& other) {
  constexpr std::size_t kTogether = 4096;
  const auto* from = dynamic_cast<const DrawSpool*>(&other);
  const bool same = from && from->cols_ == cols_ && from->draws_ == draws_ &&
                    from->width_ == width_ && from->coordinates_ == coordinates_;
  if (!same) return Recorder::merge(other);
  DrawSpool joined(info_, dim(), chains_ + from->chains_, {}, {});
  for (std::size_t first = 0; first < draws_; first += kTogether) {
    joined.append({this, from}, first, std::min<std::size_t>(kTogether, draws_ - first));
  }
  joined.coordinates_ = coordinates_;
  *this = std::move(joined);
}

// What a checkpoint counts on must be on the disk before it.
void DrawSpool::save(ByteWriter& out) const {
  if (made_[0] != 0) throw FileError("the draws of the last round are not in " + name_, true);
  if (length_ > 0 && ::fdatasync(file_.get()) != 0) fail("write '" + name_ + "'");
  out.put(length_, draws_, checksum_);
}

// The file may be longer than the checkpoint says: what came after it is made again.
void DrawSpool::restore(ByteReader& in) {
  in.get(length_, draws_, checksum_);
  std::error_code ignored;
  if (!path_.empty() && (length_ > 0 || std::filesystem::exists(path_, ignored))) {
    file_ = open_again(path_);
  }
  if (file_.get() < 0) {  // saved before the first draw
    blocks_.clear();
    if (draws_ != 0) throw DataError(name_ + " does not fit the checkpoint");
    return;
  }
  if (checksum_of_file() != checksum_) {
    throw DataError(name_ + " is damaged or belongs to another run");
  }
  if (::ftruncate(file_.get(), static_cast<off_t>(length_)) != 0) fail("shorten " + name_);
  blocks_.clear();
  std::uint64_t offset = 0, first = 0;
  while (offset < length_) {
    std::uint64_t draws = 0;
    read_at(offset, &draws, sizeof draws);
    if (draws == 0 || draws > (length_ - offset) / bytes_per_draw()) break;
    blocks_.push_back({offset, first, draws});
    offset += block_bytes(draws);
    first += draws;
  }
  if (offset != length_ || first != draws_) {
    throw DataError(name_ + " does not fit the checkpoint");
  }
}

std::uint32_t DrawSpool::checksum_of_file() const {
  std::uint32_t sum = 0;
  std::vector<std::byte> buffer(std::size_t{1} << 18);
  for (std::uint64_t at = 0; at < length_; at += buffer.size()) {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), length_ - at));
    read_at(at, buffer.data(), n);
    sum = extend_checksum(sum, buffer.data(), n);
  }
  return sum;
}

const DrawSpool::Block& DrawSpool::block_of(std::size_t draw) const {
  auto after = std::upper_bound(blocks_.begin(), blocks_.end(), draw,
                                [](std::size_t d, const Block& b) { return d < b.first; });
  return *(after - 1);
}

void DrawSpool::read_at(std::uint64_t offset, void* to, std::size_t size) const {
  char* out = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t n = ::pread(file_.get(), out, size, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw DataError(name_ + " ends too early");
    out += n;
    offset += static_cast<std::uint64_t>(n);
    size -= static_cast<std::size_t>(n);
  }
}

// Calls read(block, first draw within it, count, number of draws already handled).
template <class F>
void DrawSpool::for_blocks(std::size_t first, std::size_t count, F&& read) const {
  for (std::size_t done = 0; done < count;) {
    const Block& block = block_of(first + done);
    const std::size_t at = first + done - block.first;
    const std::size_t n = std::min<std::size_t>(count - done, block.draws - at);
    read(block, at, n, done);
    done += n;
  }
}

void DrawSpool::read_states(int chain, std::size_t first, Rows<Symbol> x) const {
  std::vector<std::byte> bytes;
  for_blocks(first, static_cast<std::size_t>(x.rows),
             [&](const Block& b, std::size_t at, std::size_t n, std::size_t done) {
               bytes.resize(states_bytes(n));
               const std::uint64_t begin =
                   b.offset + sizeof(std::uint64_t) +
                   states_bytes(static_cast<std::size_t>(chain) * b.draws + at);
               read_at(begin, bytes.data(), bytes.size());
               for (std::size_t t = 0; t < n; ++t) {
                 const std::byte* row = bytes.data() + states_bytes(t);
                 Symbol* out = x[static_cast<int>(done + t)];
                 for (std::size_t c = 0; c < cols_; ++c) {
                   out[c] = static_cast<Symbol>(row[c * width_]);
                   if (width_ == 2) std::memcpy(out + c, row + 2 * c, 2);
                 }
               }
             });
}

void DrawSpool::read_logp(int chain, std::size_t first, std::span<double> out) const {
  for_blocks(first, out.size(),
             [&](const Block& b, std::size_t at, std::size_t n, std::size_t done) {
               const std::size_t rows = b.draws * static_cast<std::size_t>(chains_);
               const std::uint64_t begin =
                   b.offset + sizeof(std::uint64_t) + states_bytes(rows) +
                   sizeof(double) * (static_cast<std::size_t>(chain) * b.draws + at);
               read_at(begin, out.data() + done, n * sizeof(double));
             });
}

void DrawSpool::read_acceptance(int chain, std::size_t first, std::span<float> out) const {
  for_blocks(first, out.size(),
             [&](const Block& b, std::size_t at, std::size_t n, std::size_t done) {
               const std::size_t rows = b.draws * static_cast<std::size_t>(chains_);
               const std::uint64_t begin =
                   b.offset + sizeof(std::uint64_t) + states_bytes(rows) + sizeof(double) * rows +
                   sizeof(float) * (static_cast<std::size_t>(chain) * b.draws + at);
               read_at(begin, out.data() + done, n * sizeof(float));
             });
}

void DrawSpool::copy_to(int file, const std::string& name) const {
  std::vector<std::byte> buffer(1 << 20);
  for (std::uint64_t at = 0; at < length_; at += buffer.size()) {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), length_ - at));
    read_at(at, buffer.data(), n);
    write_all(file, name, at, buffer.data(), n);
  }
}

void DrawSpool::keep_at(const std::filesystem::path& path) {
  Descriptor before = create(path);
  std::string name = path.string();
  try {
    copy_to(before.get(), name);
  } catch (...) {
    ::unlink(path.c_str());
    throw;
  }
  const auto exchange = [&] { std::swap(file_, before), std::swap(name_, name); };
  exchange();
  try {
    end_round();  // once more, where it failed
  } catch (...) {
    exchange();
    ::unlink(path.c_str());
    throw;
  }
}

}  // namespace saltus
