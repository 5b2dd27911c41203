// Opening a problem once, evaluating it many times.
// Tested by tests/command_line/gradient_test.py.
#include "command_line/live_session.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <charconv>
#include <cmath>

#include "command_line/command_line.hpp"
#include "driver/json_text.hpp"
#include "driver/recipe_library.hpp"
#include "driver/run.hpp"
#include "recipe/settings.hpp"
#include "record/result_file.hpp"

namespace bathline {

namespace {

/// Numbers of JSON, which has none that are not finite.
std::string json_numbers(const Eigen::VectorXd& numbers) {
  std::vector<std::string> texts;
  for (const double number : numbers) texts.push_back(std::isfinite(number) ? fmt::format("{:.17g}", number) : "null");
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

}  // namespace

bool LiveSession::is_request(const std::vector<std::string>& arguments) {
  return !arguments.empty() && (arguments.front() == "open-problem" || arguments.front() == "evaluate");
}

int LiveSession::execute(const std::vector<std::string>& arguments, const std::optional<std::string>& recipe,
                         const Program& program) {
  return exit_code_of([&] {
    if (arguments.front() == "evaluate") return evaluate(arguments, program);
    open(arguments, recipe, program);
    return exit_code::complete;
  });
}

void LiveSession::open(const std::vector<std::string>& arguments, const std::optional<std::string>& recipe,
                       const Program& program) {
  if (arguments.size() < 2) throw UsageError("open-problem needs a recipe");
  problem_ = nullptr;
  prepared_.reset();
  RunRequest request;
  request.recipe = recipe ? arguments[1] : find_recipe(arguments[1], program.communicator());
  request.text = recipe;
  for (std::size_t i = 2; i + 1 < arguments.size(); i += 2) {
    if (arguments[i] == "--set") request.settings.push_back(arguments[i + 1]);
    if (arguments[i] == "--unset") request.settings.push_back(unset_mark + arguments[i + 1]);
  }
  prepared_ = std::make_unique<PreparedRun>(
      prepare(recipe_text(request, program.communicator()), request.recipe, request.settings, {}, program));
  prepared_->petsc.reset();  // runs in between have sessions of their own
  const std::string& name = prepared_->recipe->study.text("kind");
  problem_ = dynamic_cast<LiveProblem*>(prepared_->study.get());
  if (problem_ == nullptr) {
    throw UsageError(
        fmt::format("a study of the kind `{}` has no cost that could be differentiated; take `gradient`", name));
  }
  unknowns_ = 0;
  std::vector<std::string> parts;
  for (const LiveProblem::Part& part : problem_->parts()) {
    unknowns_ += part.values.size();
    parts.push_back(fmt::format("{{\"name\": {}, \"values\": {}}}", json_string(part.name), json_numbers(part.values)));
  }
  if (program.communicator().is_root()) fmt::print("[{}]\n", fmt::join(parts, ", "));
}

int LiveSession::evaluate(const std::vector<std::string>& arguments, const Program& program) const {
  if (problem_ == nullptr) throw UsageError("evaluate: no problem is open");
  if (static_cast<Eigen::Index>(arguments.size()) - 1 != unknowns_) {
    throw UsageError(fmt::format("evaluate: {} numbers were given for {} unknowns", arguments.size() - 1, unknowns_));
  }
  Eigen::VectorXd unknowns(unknowns_);
  for (Eigen::Index i = 0; i < unknowns_; ++i) {
    const std::string& text = arguments[static_cast<std::size_t>(i) + 1];
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), unknowns[i]);
    if (error != std::errc() || end != text.data() + text.size()) {
      throw UsageError(fmt::format("evaluate: \"{}\" is not a number", text));
    }
  }
  LiveProblem::Evaluation evaluation;
  if (const std::optional<Failure> failure = problem_->evaluate(unknowns, evaluation)) {
    spdlog::error("step {}: {}", failure->step, failure->reason);
    return exit_code::numerical_failure;
  }
  if (program.communicator().is_root()) {
    fmt::print("{{\"cost\": {}, \"gradient\": {}}}\n", json_numbers(Eigen::VectorXd::Constant(1, evaluation.cost)),
               json_numbers(evaluation.gradient));
  }
  return exit_code::complete;
}

}  // namespace bathline
