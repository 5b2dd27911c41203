// Requests of rank 0 are broadcast; an empty one ends the search.
// Tested by tests/costates/optimal_control_test.cpp.
#include "solve/search_on_root.hpp"

namespace bathline {

using Eigen::Index;
using Eigen::VectorXd;

SearchReport search_on_root(const Communicator& communicator, const Ask& work,
                            const std::function<SearchReport(const Ask&)>& search) {
  const auto shared = [&](VectorXd numbers) {
    auto size = static_cast<std::int64_t>(numbers.size());
    communicator.broadcast(std::span<std::int64_t>(&size, 1));
    numbers.resize(size);
    communicator.broadcast(std::span<double>(numbers.data(), static_cast<std::size_t>(size)));
    return numbers;
  };
  SearchReport report;
  if (communicator.is_root()) {
    report = search([&](const VectorXd& request) { work(shared(request)); });
    shared({});
  } else {
    for (VectorXd request = shared({}); request.size() > 0; request = shared({})) work(request);
  }
  auto& [x, multipliers, penalty] = report.point;
  VectorXd numbers(7 + multipliers.size() + x.size());
  numbers << report.value, report.residual, report.infeasibility, double(report.iterations), double(report.evaluations),
      double(report.converged), double(multipliers.size()), multipliers, x;
  numbers = shared(numbers);
  report.value = numbers[0];
  report.residual = numbers[1];
  report.infeasibility = numbers[2];
  report.iterations = static_cast<int>(numbers[3]);
  report.evaluations = static_cast<int>(numbers[4]);
  report.converged = numbers[5] != 0.0;
  const auto constraints = static_cast<Index>(numbers[6]);
  multipliers = numbers.segment(7, constraints);
  x = numbers.tail(numbers.size() - 7 - constraints);
  report.reason = communicator.broadcast(report.reason);
  return report;
}

}  // namespace bathline
