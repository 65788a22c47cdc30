#include "saltus/run/team.hpp"

#include <cstring>
#include <utility>

namespace saltus {
namespace {

// What the leader says between two rounds.
enum class Word : std::uint8_t { go_on, stop, save };

void say(Team& team, Word word) {
  team.share(std::as_bytes(std::span(&word, 1)));
}

// Draws of some chains within a round, as bytes: the number of draws, then for every draw and chain
// its states (1 byte an entry, 2 for more than 256 levels), log p and acceptance probability.
struct Layout {
  std::vector<int> coordinates;
  std::size_t dim, cols, width;

  Layout(const Domain& domain, std::vector<int> of)
      : coordinates(std::move(of)),
        dim(static_cast<std::size_t>(domain.dim())),
        cols(coordinates.empty() ? dim : coordinates.size()),
        width(domain.max_levels() <= 256 ? 1 : 2) {}

  std::size_t bytes() const { return cols * width + sizeof(double) + sizeof(float); }
  std::size_t coordinate(std::size_t c) const {
    return coordinates.empty() ? c : static_cast<std::size_t>(coordinates[c]);
  }

  void pack(const Symbol* x, double logp, double acceptance, std::byte* to) const {
    for (std::size_t c = 0; c < cols; ++c, to += width) {
      std::memcpy(to, x + coordinate(c), width);  // little-endian: the low byte comes first
    }
    std::memcpy(to, &logp, sizeof logp);
    const auto a = static_cast<float>(acceptance);
    std::memcpy(to + sizeof logp, &a, sizeof a);
  }

  void unpack(const std::byte* from, Symbol* x, double& logp, StepInfo& info) const {
    for (std::size_t c = 0; c < cols; ++c, from += width) {
      Symbol k = 0;
      std::memcpy(&k, from, width);
      x[coordinate(c)] = k;
    }
    float acceptance = 0;
    std::memcpy(&logp, from, sizeof logp);
    std::memcpy(&acceptance, from + sizeof logp, sizeof acceptance);
    info.acceptance = static_cast<double>(acceptance);
  }
};

class Sender final : public Recorder {
 public:
  Sender(Team& team, const Domain& domain, int chains, std::vector<int> coordinates)
      : team_(team),
        layout_(domain, std::move(coordinates)),
        chains_(static_cast<std::size_t>(chains)) {}

  void begin_round(std::uint64_t draws) override {
    parcel_.resize(sizeof draws + draws * chains_ * layout_.bytes());
    std::memcpy(parcel_.data(), &draws, sizeof draws);
  }
  void record(const Tile& tile, std::span<const StepInfo> info, std::uint64_t draw) override {
    for (int r = 0; r < tile.rows(); ++r) {
      const std::size_t row = draw * chains_ + tile.first_slot + static_cast<std::size_t>(r);
      layout_.pack(tile.x[r], tile.logp[r], info[static_cast<std::size_t>(r)].acceptance,
                   parcel_.data() + sizeof(std::uint64_t) + row * layout_.bytes());
    }
  }
  void end_round() override { team_.collect(parcel_); }
  bool wants_logp() const override { return true; }
  void save(ByteWriter&) const override {}
  void restore(ByteReader&) override {}

 private:
  Team& team_;
  Layout layout_;
  std::size_t chains_;
  std::vector<std::byte> parcel_;
};

class Receiver final : public Recorder {
 public:
  Receiver(Team& team, Recorder& sink, const Domain& domain, int chains,
           std::vector<int> coordinates)
      : team_(team),
        sink_(sink),
        layout_(domain, std::move(coordinates)),
        chains_(static_cast<std::uint32_t>(chains)) {}

  void begin_round(std::uint64_t draws) override { sink_.begin_round(draws); }
  void record(const Tile& tile, std::span<const StepInfo> info, std::uint64_t draw) override {
    sink_.record(tile, info, draw);
  }
  void end_round() override {
    const std::vector<std::vector<std::byte>> parcels = team_.collect({});
    std::uint32_t slot = chains_;
    for (std::size_t member = 1; member < parcels.size(); ++member) {
      slot += unpack(parcels[member], slot);
    }
    sink_.end_round();
  }
  bool wants_logp() const override { return sink_.wants_logp(); }
  std::size_t bytes_per_draw() const override { return sink_.bytes_per_draw(); }
  void save(ByteWriter& out) const override { sink_.save(out); }
  void restore(ByteReader& in) override { sink_.restore(in); }

 private:
  // Returns how many chains the member has.
  std::uint32_t unpack(std::span<const std::byte> parcel, std::uint32_t slot) {
    std::uint64_t draws = 0;
    std::memcpy(&draws, parcel.data(), sizeof draws);
    const std::size_t chains = (parcel.size() - sizeof draws) / (draws * layout_.bytes());
    const RowBuffer<Symbol> x(static_cast<int>(chains), static_cast<int>(layout_.dim));
    std::vector<double> logp(chains);
    std::vector<StepInfo> info(chains);
    Tile tile;
    tile.x = x.view(), tile.logp = logp.data(), tile.first_slot = slot;
    const std::byte* from = parcel.data() + sizeof draws;
    for (std::uint64_t draw = 0; draw < draws; ++draw) {
      for (std::size_t r = 0; r < chains; ++r, from += layout_.bytes()) {
        layout_.unpack(from, x.view()[static_cast<int>(r)], logp[r], info[r]);
      }
      sink_.record(tile, info, draw);
    }
    return static_cast<std::uint32_t>(chains);
  }

  Team& team_;
  Recorder& sink_;
  Layout layout_;
  std::uint32_t chains_;  // of the leader
};

}  // namespace

std::uint64_t Team::share_value(std::uint64_t of_leader) {
  const std::vector<std::byte> bytes = share(std::as_bytes(std::span(&of_leader, 1)));
  return ByteReader(bytes).get<std::uint64_t>();
}

bool agree(Team* team, const std::function<bool()>& leader_says, const SavePart& save) {
  if (!team) return leader_says();
  if (team->leads()) {
    const bool go_on = leader_says();
    say(*team, go_on ? Word::go_on : Word::stop);
    return go_on;
  }
  while (true) {
    const std::vector<std::byte> bytes = team->share({});
    const auto word = ByteReader(bytes).get<Word>();
    if (word != Word::save) return word == Word::go_on;
    saved_together(team, save);
  }
}

std::vector<std::byte> saved_by_all(Team* team, const SavePart& save) {
  if (team) say(*team, Word::save);
  return saved_together(team, save);
}

std::vector<std::byte> saved_together(Team* team, const SavePart& save) {
  ByteWriter out;
  save(out);
  if (!team) return {out.bytes().begin(), out.bytes().end()};
  const std::vector<std::vector<std::byte>> parts = team->collect(out.part());
  return team->leads() ? join_parts(parts) : std::vector<std::byte>();
}

Membership join_team(Team& team, std::vector<ChainRange> ranges) {
  Membership m;
  m.team = team.first(static_cast<int>(ranges.size()));
  if (m.team) m.range = ranges[static_cast<std::size_t>(m.team->rank())];
  return m;
}

std::unique_ptr<Recorder> receiving_recorder(Team& team, Recorder& sink, const Domain& domain,
                                             int chains_of_leader, std::vector<int> coordinates) {
  return std::make_unique<Receiver>(team, sink, domain, chains_of_leader, std::move(coordinates));
}

std::unique_ptr<Recorder> sending_recorder(Team& team, const Domain& domain, int chains,
                                           std::vector<int> coordinates) {
  return std::make_unique<Sender>(team, domain, chains, std::move(coordinates));
}

}  // namespace saltus
