// Verifying a result by running its recipe again and comparing every variable.
// Tested by tests/command_line/verify_test.py.
#include "driver/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "driver/prepared_run.hpp"
#include "driver/unpacked_inputs.hpp"
#include "text/printable_text.hpp"
#include "record/claims.hpp"
#include "record/checksum.hpp"
#include "record/temporary_file.hpp"

namespace bathline {

namespace {

/// Appends the paths of all variables below `group`, except the claims.
void collect_variables(const ResultReader& file, const std::string& group, std::vector<std::string>& paths) {
  for (const std::string& name : file.names(group.empty() ? "/" : group)) {
    const std::string path = group.empty() ? name : group + "/" + name;
    if (path == "claims") continue;
    if (file.is_group(path)) {
      collect_variables(file, path, paths);
    } else {
      paths.push_back(path);
    }
  }
}

/// Whether a variable has the same bits in both files; `difference` is relative to its largest value.
bool is_same(const ResultReader& original, const ResultReader& rerun, const std::string& path, double& difference) {
  difference = 0.0;
  std::vector<double> first, second;
  try {
    first = original.read(path).values;
    second = rerun.read(path).values;
  } catch (const FileError&) {
    return original.read_texts(path) == rerun.read_texts(path);
  }
  if (original.shape(path) != rerun.shape(path)) {
    difference = std::numeric_limits<double>::infinity();
    return false;
  }
  double largest = 0.0;  // of the finite values
  bool same = true;
  for (std::size_t i = 0; i < first.size(); ++i) {
    for (const double value : {first[i], second[i]}) {
      if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    }
    if (std::bit_cast<std::uint64_t>(first[i]) == std::bit_cast<std::uint64_t>(second[i])) continue;
    if (std::isnan(first[i]) && std::isnan(second[i])) continue;
    same = false;
    const double distance = std::abs(first[i] - second[i]);
    difference = std::isfinite(distance) ? std::max(difference, distance) : std::numeric_limits<double>::infinity();
  }
  if (largest > 0.0) difference /= largest;
  return same;
}

/// Compares two results on rank 0 and prints the outcome.
int compare(const std::string& result, const std::string& rerun_path, bool to_the_bit, double tolerance) {
  const ResultReader original(result), rerun(rerun_path);
  std::vector<std::string> paths, rerun_paths;
  collect_variables(original, "", paths);
  collect_variables(rerun, "", rerun_paths);
  std::sort(paths.begin(), paths.end());
  std::sort(rerun_paths.begin(), rerun_paths.end());
  if (paths != rerun_paths) {
    std::vector<std::string> unmatched;
    std::set_symmetric_difference(paths.begin(), paths.end(), rerun_paths.begin(), rerun_paths.end(),
                                  std::back_inserter(unmatched));
    fmt::print("{}: DIFFERS: only one of the two files has {}\n", result, unmatched.front());
    return exit_code::claim_failed;
  }
  std::size_t equal = 0, different = 0;
  double max_difference = 0.0;
  std::string max_path;
  for (const std::string& path : paths) {
    double difference = 0.0;
    try {
      if (is_same(original, rerun, path, difference)) {
        ++equal;
        continue;
      }
    } catch (const FileError& error) {
      ++different;
      fmt::print("  {}\n", error.what());
      continue;
    }
    if (to_the_bit || !(difference <= tolerance)) {
      ++different;
      fmt::print("  {} differs by {:.3e} of its largest value\n", path, difference);
    }
    if (difference >= max_difference) {
      max_difference = difference;
      max_path = path;
    }
  }
  const std::string variables = counted(static_cast<std::int64_t>(paths.size()), "variable");
  if (different > 0) {
    fmt::print("{}: DIFFERS: {} of {}, {}\n", result, different, variables,
               to_the_bit ? "compared bit by bit" : fmt::format("compared to {:g} of their largest value", tolerance));
    return exit_code::claim_failed;
  }
  if (to_the_bit) {
    fmt::print("{}: VERIFIED: all {} have the same bits\n", result, variables);
  } else if (equal == paths.size()) {
    fmt::print("{}: VERIFIED: all {} agree exactly\n", result, variables);
  } else {
    fmt::print("{}: VERIFIED: all {} agree to {:.1e} of their largest value ({})\n", result, variables, max_difference,
               max_path);
  }
  return exit_code::complete;
}

}  // namespace

int verify_result(const VerifyRequest& request, const Program& program) {
  const Communicator& communicator = program.communicator();
  std::string recipe, petsc_options, status, differences;
  std::int64_t ranks[] = {0};
  check_on_root(communicator, [&] {
    if (!require_intact(request.result)) spdlog::warn("{}", missing_checksum_text(request.result));
    const ResultReader result(request.result);
    for (const char* name : {"recipe_resolved", "petsc_options", "mpi_ranks"}) {
      if (result.has_attribute(name)) continue;
      throw FileError("{} is not a result of bathline: it has no attribute {}", request.result, name);
    }
    recipe = result.attribute("recipe_resolved");
    petsc_options = result.attribute("petsc_options");
    status = result.attribute("status");
    ranks[0] = std::stoll(result.attribute("mpi_ranks"));
    if (status != "complete") {
      throw FileError("{} has the status {}; only complete results can be verified", request.result, status);
    }
    differences = build_differences(result, petsc_version());
  });
  recipe = communicator.broadcast(recipe);
  petsc_options = communicator.broadcast(petsc_options);
  differences = communicator.broadcast(differences);
  communicator.broadcast(std::span<std::int64_t>(ranks));

  bool to_the_bit = differences.empty();
  if (!differences.empty()) {
    spdlog::warn("{} was written by another build: comparing to {:g} instead of bit by bit{}", request.result,
                 request.tolerance, differences);
  } else if (ranks[0] != communicator.size()) {
    spdlog::warn("{} was computed on {}, not {}: comparing to {:g} instead of bit by bit", request.result,
                 counted(ranks[0], "rank"), communicator.size(), request.tolerance);
    to_the_bit = false;
  }

  RunContext context;
  context.progress = request.progress;
  std::optional<TemporaryFile> scratch;
  if (request.output.empty()) scratch.emplace(request.result, communicator);
  context.path = scratch ? scratch->path() : request.output;
  context.is_scratch = scratch.has_value();
  int code = exit_code::complete;
  {
    std::unique_ptr<UnpackedInputs> folder;
    {
      // Only rank 0 reads the file; its errors are thrown on all ranks.
      std::unique_ptr<ResultReader> result;
      check_on_root(communicator, [&] { result = std::make_unique<ResultReader>(request.result); });
      folder = std::make_unique<UnpackedInputs>(result.get(), program);
    }
    const std::vector<std::string> options = options_for(request.petsc_options, petsc_options, request.result);
    const PreparedRun prepared = prepare(recipe, folder->recipe_file(), {}, options, program);
    context.provenance = provenance_of(prepared, recipe, fmt::format("{}", fmt::join(options, " ")));
    std::optional<StopSignals> signals;
    if (!scratch) signals.emplace(communicator);
    std::unique_ptr<ResultFile> file;
    try {
      constexpr bool overwrite = false;
      file = create_result(context, prepared, overwrite, communicator);
    } catch (const UsageError& error) {
      if (!scratch) throw;
      throw UsageError(fmt::format("{}; give another path for the rerun with -o", error.what()));
    }
    code = execute_run(context, prepared, std::move(file), nullptr, communicator);
  }
  if (code != exit_code::complete && code != exit_code::claim_failed) return code;
  return run_on_root(communicator, exit_code::numerical_failure,
                     [&] { return compare(request.result, context.path, to_the_bit, request.tolerance); });
}

}  // namespace bathline
