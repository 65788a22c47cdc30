// A team of processes by MPI. Collective calls do not block: a process that waits looks now and
// then, so that one that has nothing to do takes no processor time from those that share its node.
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>

#include "saltus/core/error.hpp"
#include "saltus/mpi/module.hpp"
#include "saltus/version.hpp"

namespace saltus {
namespace {

constexpr int kSpins = 200, kYields = 2000;  // looks before waiting is longer
constexpr useconds_t kNap = 100;             // microseconds
constexpr std::size_t kMessage = std::size_t{1} << 30;
constexpr int kTag = 1;

std::function<void()> while_waiting;

void wait_for(MPI_Request& request) {
  int done = 0;
  for (int looks = 0;; ++looks) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done) return;
    if (looks < kSpins) continue;
    if (looks < kYields) {
      sched_yield();
    } else {
      usleep(kNap);
      if (while_waiting) while_waiting();
    }
  }
}

class MpiTeam final : public Team {
 public:
  explicit MpiTeam(MPI_Comm communicator) : all_(communicator) {
    MPI_Comm_rank(all_, &rank_);
    MPI_Comm_size(all_, &size_);
  }
  ~MpiTeam() override {
    if (all_ != MPI_COMM_WORLD) MPI_Comm_free(&all_);
  }
  MpiTeam(const MpiTeam&) = delete;
  MpiTeam& operator=(const MpiTeam&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::vector<double> gather(std::span<const double> mine) override {
    const auto members = static_cast<std::size_t>(size_);
    std::vector<int> counts(members), offsets(members);
    const auto count = static_cast<int>(mine.size());
    MPI_Request request;
    MPI_Iallgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, all_, &request);
    wait_for(request);
    int sum = 0;
    for (std::size_t m = 0; m < members; ++m) {
      offsets[m] = sum;
      sum += counts[m];
    }
    std::vector<double> values(static_cast<std::size_t>(sum));
    MPI_Iallgatherv(mine.data(), count, MPI_DOUBLE, values.data(), counts.data(), offsets.data(),
                    MPI_DOUBLE, all_, &request);
    wait_for(request);
    return values;
  }

  std::vector<std::vector<std::byte>> collect(std::span<const std::byte> mine) override {
    const std::uint64_t size = mine.size();
    std::vector<std::uint64_t> sizes(rank_ == 0 ? static_cast<std::size_t>(size_) : 0);
    MPI_Request request;
    MPI_Igather(&size, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, 0, all_, &request);
    wait_for(request);
    std::vector<std::vector<std::byte>> parts;
    if (rank_ != 0) {
      send(mine);
      return parts;
    }
    parts.emplace_back(mine.begin(), mine.end());
    for (int member = 1; member < size_; ++member) {
      parts.emplace_back(sizes[static_cast<std::size_t>(member)]);
      receive(parts.back(), member);
    }
    return parts;
  }

  std::vector<std::byte> share(std::span<const std::byte> of_leader) override {
    std::uint64_t size = of_leader.size();
    MPI_Request request;
    MPI_Ibcast(&size, 1, MPI_UINT64_T, 0, all_, &request);
    wait_for(request);
    std::vector<std::byte> bytes(of_leader.begin(), of_leader.end());
    bytes.resize(size);
    for_messages(bytes, [&](std::byte* data, int count) {
      MPI_Ibcast(data, count, MPI_BYTE, 0, all_, &request);
      wait_for(request);
    });
    return bytes;
  }

  void exchange(std::span<std::byte> units, std::span<const int> counts) override {
    std::vector<int> offsets;
    int sum = 0;
    for (const int count : counts) {
      offsets.push_back(sum);
      sum += count;
    }
    if (sum == 0) return;
    MPI_Datatype unit = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(static_cast<int>(units.size() / static_cast<std::size_t>(sum)), MPI_BYTE,
                        &unit);
    MPI_Type_commit(&unit);
    MPI_Request request;
    MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, units.data(), counts.data(), offsets.data(),
                    unit, all_, &request);
    wait_for(request);
    MPI_Type_free(&unit);
  }

  std::unique_ptr<Team> first(int members) override {
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(all_, rank_ < members ? 0 : MPI_UNDEFINED, rank_, &part);
    return part == MPI_COMM_NULL ? nullptr : std::make_unique<MpiTeam>(part);
  }

  void barrier() {
    MPI_Request request;
    MPI_Ibarrier(all_, &request);
    wait_for(request);
  }

 private:
  // A message has a limited size.
  template <class F>
  static void for_messages(std::span<std::byte> bytes, F&& each) {
    for (std::size_t at = 0; at < bytes.size(); at += kMessage) {
      each(bytes.data() + at, static_cast<int>(std::min(kMessage, bytes.size() - at)));
    }
  }

  void send(std::span<const std::byte> bytes) const {
    for (std::size_t at = 0; at < bytes.size(); at += kMessage) {
      MPI_Request request;
      MPI_Isend(bytes.data() + at, static_cast<int>(std::min(kMessage, bytes.size() - at)),
                MPI_BYTE, 0, kTag, all_, &request);
      wait_for(request);
    }
  }

  void receive(std::span<std::byte> bytes, int member) const {
    for_messages(bytes, [&](std::byte* data, int count) {
      MPI_Request request;
      MPI_Irecv(data, count, MPI_BYTE, member, kTag, all_, &request);
      wait_for(request);
    });
  }

  MPI_Comm all_;
  int rank_ = 0, size_ = 1;
};

class Module final : public MpiModule {
 public:
  Team& all_processes(std::function<void()> waiting) const override {
    while_waiting = std::move(waiting);
    int started = 0;
    MPI_Initialized(&started);
    if (!started) {
      int given = 0;
      if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given) != MPI_SUCCESS) {
        throw UsageError("MPI could not be started");
      }
      ours_ = true;
    }
    if (!team_) team_ = std::make_unique<MpiTeam>(MPI_COMM_WORLD);
    return *team_;
  }

  void finish() const override {
    if (!team_) return;
    team_->barrier();
    team_.reset();
    if (ours_) MPI_Finalize();
  }

  [[noreturn]] void abort(int status) const override {
    MPI_Abort(MPI_COMM_WORLD, status);
    std::_Exit(status);
  }

 private:
  mutable std::unique_ptr<MpiTeam> team_;
  mutable bool ours_ = false;
};

}  // namespace
}  // namespace saltus

extern "C" const char* saltus_mpi_version() {
  return SALTUS_VERSION;
}

extern "C" const saltus::MpiModule* saltus_mpi_module() {
  static const saltus::Module module;
  return &module;
}
