// Any bytes as a checkpoint behind its checksum: refused, or a run that can go on.
#include "saltus/run/checkpoint.hpp"

#include "saltus/core/error.hpp"
#include "saltus/run/draw_spool.hpp"
#include "saltus/run/moments.hpp"
#include "saltus/run/run.hpp"
#include "saltus/sampler/dlp.hpp"
#include "saltus/target/ising_lattice.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const saltus::IsingLattice target(2, 3, true, 0.1, 0.2);
  saltus::RunPlan plan;
  plan.chains = 2;
  plan.warmup = 10;
  plan.draws = 20;
  plan.threads = 1;
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  saltus::DrawsInfo info;
  saltus::DrawSpool spool(info, target.domain().dim(), plan.chains, {}, "");
  saltus::Moments moments(target.domain(), plan.chains, plan.draws, true);
  saltus::Run run(target, std::make_unique<saltus::Dlp>(target.domain(), saltus::DlpOptions{}),
                  plan);
  run.add(moments);
  run.add(spool);
  try {
    const saltus::Checkpoint checkpoint = saltus::parse_checkpoint(bytes);
    saltus::ByteReader in(checkpoint.state);
    run.restore(in);
  } catch (const saltus::DataError&) {
    return 0;
  } catch (const saltus::UsageError&) {
    return 0;
  }
  run.go();
  return 0;
}
