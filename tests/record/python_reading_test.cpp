// Reading everything that bathline writes with h5py and xarray.
#include <gtest/gtest.h>

#include "record/child_process.hpp"
#include "record/claims.hpp"
#include "record/provenance.hpp"
#include "record/result_file.hpp"
#include "record/shared_folder.hpp"
#include "test_world.hpp"

namespace bathline::python_reading_test {
namespace {

void write_series(ResultFile& file) {
  const Dimension particle{"particle", {0, 1}, "1", "particle"};
  const Dimension axis{"axis", {0}, "1", "axis"};
  SeriesWriter closed =
      file.series({"closed",
                   "time",
                   {particle, axis},
                   {{"q", "m", "position, µm or m", {"particle", "axis"}}, {"energy_total", "J", "total energy", {}}}});
  for (int row = 0; row < 3; ++row) {
    closed.append(0.25 * row, std::vector<double>{2.0 * row, 2.0 * row + 1, -1.0 * row});
  }
  closed.flush();
  file.series({"wide",
               "time",
               {{"oscillator", std::vector<double>(500000, 1.0), "1", "oscillator"}},
               {{"q", "m", "position", {"oscillator"}}}});
}

void write_snapshots(ResultFile& file) {
  const std::int64_t total = 70000;
  const int ranks = test_world().size();
  const std::int64_t first = total * test_world().rank() / ranks;
  const std::int64_t end = total * (test_world().rank() + 1) / ranks;
  std::vector<double> sites;
  for (std::int64_t site = first; site < end; ++site) sites.push_back(static_cast<double>(site));
  SnapshotWriter writer = file.snapshots("closed", "displacement", "m", "displacement", sites, first, total);
  writer.append(0.5, sites, first);
  writer.append(1.5, sites, first);
}

std::vector<ClaimResult> two_claims() {
  ClaimResult passed;
  passed.name = "energy";
  passed.quantity = "closed.energy_total.min";
  passed.measured = passed.expected = passed.lower = passed.upper = -2.0;
  passed.holds = passed.passed = true;
  ClaimResult failed;
  failed.name = "größer";
  failed.supported = false;
  failed.problem = "no variable";
  return {passed, failed};
}

TEST(MpiPythonReading, H5pyAndXarraySeeNamesDimensionsAndTexts) {
  const SharedFolder folder;
  const std::string path = folder.file("a.h5");
  ResultFile file(path, test_world(), false);
  Provenance provenance;
  provenance.title = "Größe";
  provenance.recipe = std::string(100000, 'x');
  provenance.petsc_options = "-ksp_type cg";
  provenance.seed = 7;
  provenance.started = utc_now();
  write_provenance(file, test_world(), provenance);
  write_series(file);
  write_snapshots(file);
  const std::vector<Dimension> step{{"step", {0.1, 0.2, 0.4}, "s", "step size"}};
  file.array("convergence", {"error_q", "m", "error", {}}, step, std::vector<double>{1, 2, 3});
  file.array("convergence", {"midpoint/order_q", "1", "order", {}}, {}, std::vector<double>{2});
  file.texts("convergence", "label", "method", std::vector<std::string>{"Størmer-Verlet", "b", ""}, "label");
  file.array("convergence", {"heat", "J", "heat", {}},
             std::vector<Dimension>{{"environment", {}, "1", "environment", {"bath", "größer"}}},
             std::vector<double>{4, 5});
  file.texts("convergence", "letter", "method", std::vector<std::string>{"a", "b", "c"}, "letter");
  file.close();
  Outcome outcome;
  if (test_world().is_root()) {
    write_claims(path, two_claims());
    const char* source = std::getenv("BATHLINE_SOURCE");  // set by tests/CMakeLists.txt
    const std::string script = std::string(source == nullptr ? "." : source) + "/tests/record/read_with_xarray.py";
    outcome = run_command("/usr/bin/python3 -B " + script + " " + path);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
  }
  test_world().barrier();
}

TEST(PythonReading, XarrayOpensAFileWithoutClaims) {
  const SharedFolder folder;
  const std::string path = folder.file("a.h5");
  { ResultFile file(path, test_world(), false); }
  write_claims(path, {});
  const Outcome outcome = run_command(
      "/usr/bin/python3 -c \"import xarray; d = xarray.open_dataset('" + path +
      "', group='claims', engine='h5netcdf'); print(d['name'].dims, d['name'].shape, d['measured'].shape)\"");
  EXPECT_EQ(outcome.output, "('claim',) (0,) (0,)\n");
  EXPECT_TRUE(read_claims(ResultReader(path)).empty());
}

}  // namespace
}  // namespace bathline::python_reading_test
