// The benchmark program: alone on one core or under mpirun; rank 0 reports.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench_world.hpp"
#include "solve/petsc_session.hpp"

namespace bathline {

namespace {

const Communicator* world = nullptr;

/// Says nothing, for the ranks that do not report.
class SilentReporter final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

}  // namespace

const Communicator& bench_world() { return *world; }

std::int64_t memory_resident_sites() {
  const char* sites = std::getenv("BATHLINE_BENCH_SITES");
  return sites ? std::stoll(sites) : 32'000'000;
}

}  // namespace bathline

int main(int argc, char** argv) {
  const bathline::ParallelSession session(argc, argv);
  const bathline::PetscSession petsc(session.world(), {});
  bathline::world = &session.world();
  if (!session.world().is_root()) {
    // One file is written, by rank 0.
    const auto writes = [](const char* word) { return std::string(word).rfind("--benchmark_out", 0) == 0; };
    argc = static_cast<int>(std::remove_if(argv + 1, argv + argc, writes) - argv);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  if (session.world().is_root()) {
    benchmark::AddCustomContext("mpi_ranks", std::to_string(session.world().size()));
    benchmark::RunSpecifiedBenchmarks();
  } else {
    bathline::SilentReporter silent;
    benchmark::RunSpecifiedBenchmarks(&silent);
  }
  return 0;
}
