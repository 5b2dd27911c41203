// Tested by tests/steppers/exact_stepper_test.cpp.
#include "model/formula/time_kinks.hpp"

#include <algorithm>
#include <cmath>

namespace bathline {

TimeKinks::TimeKinks(const ExpressionGraph& graph, std::span<const Expression> values, int time)
    : variables_(static_cast<std::size_t>(time) + 1) {
  enum : char { none, time_only, others };  // the variables of a node
  std::vector<char> kinds(graph.size(), none);
  std::vector<Expression> outputs;
  const auto kind_of = [&](int index) { return index < 0 ? char{none} : kinds[static_cast<std::size_t>(index)]; };
  for (const Expression part : graph.topological_order(values)) {
    const ExpressionGraph::Node& node = graph[part];
    char& kind = kinds[static_cast<std::size_t>(part.index)];
    if (node.operation == Operation::variable) {
      kind = node.a == time ? time_only : others;
      continue;
    }
    kind = std::max({kind_of(node.a), kind_of(node.b), kind_of(node.c)});
    const auto add = [&](int first, int second, std::optional<double> table) {
      if (std::max(kind_of(first), kind_of(second)) != time_only) return;
      arguments_.push_back({outputs.size(), outputs.size() + (second < 0 ? 0 : 1), table});
      outputs.push_back({first});
      if (second >= 0) outputs.push_back({second});
    };
    switch (node.operation) {
      case Operation::absolute:
      case Operation::sign:
      case Operation::step:
      case Operation::select:
        add(node.a, -1, std::nullopt);
        break;
      case Operation::minimum:
      case Operation::maximum:
        add(node.a, node.b, std::nullopt);
        break;
      case Operation::table:
        add(node.b, -1, graph[Expression{node.a}].value);
        break;
      default:
        break;
    }
  }
  if (outputs.empty()) return;
  program_.emplace(graph, outputs, time + 1);
  outputs_.resize(outputs.size());
}

double TimeKinks::piece(const Argument& argument, double t) const {
  variables_.back() = t;
  program_->run(variables_.data(), outputs_.data());
  const double first = outputs_[argument.first];
  if (argument.table) {
    // The highest derivative that does not vanish, which is constant within a piece.
    double number = *argument.table, value = 0.0;
    for (int order = 0; order < 3; ++order) number = table_derivative(number);
    for (int order = 3; order > 0 && value == 0.0; --order, --number) value = table_value(number, first);
    return std::isnan(value) ? 0.0 : value;
  }
  return first >= (argument.first == argument.second ? 0.0 : outputs_[argument.second]) ? 1.0 : 0.0;
}

std::vector<double> TimeKinks::between(double from, double to) const {
  constexpr int samples = 16;
  std::vector<double> kinks;
  for (const Argument& argument : arguments_) {
    double last = from;
    for (int i = 1; i <= samples; ++i) {
      const double end = i == samples ? to : from + (to - from) * i / samples;
      for (double now = piece(argument, last); now != piece(argument, end); now = piece(argument, last)) {
        double before = last, after = end;
        for (double middle = 0.5 * (before + after); before < middle && middle < after;
             middle = 0.5 * (before + after)) {
          (piece(argument, middle) == now ? before : after) = middle;
        }
        kinks.push_back(last = after);
      }
      last = end;
    }
  }
  return kinks;
}

}  // namespace bathline
