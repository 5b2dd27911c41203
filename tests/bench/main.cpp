// The benchmark program: alone on one core or under mpirun; rank 0 reports.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "bench_world.hpp"
#include "simd/subnormals.hpp"
#include "solve/petsc_session.hpp"

namespace bathline {

namespace {

const Communicator* world = nullptr;

/// Prints nothing, for the ranks that do not report.
class SilentReporter final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

/// Reports under the plain names, without the numbers of iterations and the clocks.
template <class Reporter>
class PlainNames final : public Reporter {
 public:
  using Run = benchmark::BenchmarkReporter::Run;
  void ReportRuns(const std::vector<Run>& runs) override {
    std::vector<Run> plain = runs;
    for (Run& run : plain) {
      run.run_name.iterations.clear();
      run.run_name.time_type.clear();
    }
    Reporter::ReportRuns(plain);
  }
};

/// A reporter as `--benchmark_format` or `--benchmark_out_format` requests it.
std::unique_ptr<benchmark::BenchmarkReporter> make_reporter(const std::string& format) {
  if (format == "json") return std::make_unique<PlainNames<benchmark::JSONReporter>>();
  return std::make_unique<PlainNames<benchmark::ConsoleReporter>>();
}

/// The value of `--name=value`, or `default_value`.
std::string argument(int argc, char** argv, const std::string& name, const std::string& default_value) {
  const std::string begin = "--" + name + "=";
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]).rfind(begin, 0) == 0) return argv[i] + begin.size();
  }
  return default_value;
}

}  // namespace

const Communicator& bench_world() { return *world; }

std::int64_t memory_resident_sites() {
  const char* sites = std::getenv("BATHLINE_BENCH_SITES");
  return sites ? std::stoll(sites) : 32'000'000;
}

}  // namespace bathline

int main(int argc, char** argv) {
  bathline::flush_subnormals();
  const bathline::MpiSession session;
  bathline::PetscSession::start(session.world());
  bathline::world = &session.world();
  if (!session.world().is_root()) {
    // One file is written, by rank 0.
    const auto writes = [](const char* word) { return std::string(word).rfind("--benchmark_out", 0) == 0; };
    argc = static_cast<int>(std::remove_if(argv + 1, argv + argc, writes) - argv);
  }
  const auto display = bathline::make_reporter(bathline::argument(argc, argv, "benchmark_format", "console"));
  const auto file = bathline::make_reporter(bathline::argument(argc, argv, "benchmark_out_format", "json"));
  const bool to_file = !bathline::argument(argc, argv, "benchmark_out", "").empty();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  if (session.world().is_root()) {
    benchmark::AddCustomContext("mpi_ranks", std::to_string(session.world().size()));
    benchmark::RunSpecifiedBenchmarks(display.get(), to_file ? file.get() : nullptr);
  } else {
    bathline::SilentReporter silent;
    benchmark::RunSpecifiedBenchmarks(&silent);
  }
  return 0;
}
