// A problem that stays in memory between the requests of `bathline serve`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/live_problem.hpp"
#include "driver/prepared_run.hpp"
#include "driver/program.hpp"

namespace bathline {

/// Executes the requests `open-problem RECIPE [--set KEY=VALUE | --unset KEY]...`, which prints the parts of the
/// unknowns, and `evaluate NUMBER...`, which prints the cost and its gradient, both as JSON.
class LiveSession {
 public:
  static bool is_request(const std::vector<std::string>& arguments);
  /// Returns the exit code; errors are logged. @note Collective.
  int execute(const std::vector<std::string>& arguments, const std::optional<std::string>& recipe,
              const Program& program);

 private:
  void open(const std::vector<std::string>& arguments, const std::optional<std::string>& recipe,
            const Program& program);
  int evaluate(const std::vector<std::string>& arguments, const Program& program) const;

  std::unique_ptr<PreparedRun> prepared_;
  LiveProblem* problem_ = nullptr;  // the study of `prepared_`
  Eigen::Index unknowns_ = 0;
};

}  // namespace bathline
