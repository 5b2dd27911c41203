// A line of sites without end, of which nothing is kept but its memory of the head.
//
// A scheme sees of the line a kernel over its steps, or takes the kernel's exponentials along (stepped_kernel.hpp,
// continuous_kernel.hpp): some hundred numbers in the place of all sites, on rank 0, for the path of the closed line of
// any length until its echo. Their state belongs to the scheme that the last march was made for.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "model/certified.hpp"
#include "model/environment.hpp"
#include "model/infinite/certificate.hpp"
#include "parallel/cache_lines.hpp"

namespace bathline {

struct InfiniteLineOptions {
  double mass = 1.0;
  double stiffness = 1.0;
  double tolerance = 1e-12;                  ///< of the kernel, relative to the sum of its absolute values
  double horizon = 0.0;                      ///< s; KernelDemand::forever
  double step = 1.0;                         ///< of the run, s
  double end = 0.0;                          ///< of the run, s
  std::optional<double> matched_gamma = {};  ///< as in EnvironmentFacts
};

class InfiniteLine final : public Environment, public Certified {
 public:
  /// The line's memory of the head on one axis, in steps back from now.
  struct Axis {
    double work = 0.0;           ///< that the head has done, J
    double place = 0.0;          ///< of the head at the last kick
    double force = 0.0;          ///< at the last kick
    double phase = 0.0;          ///< how much of a step the head has drifted since
    double carry = 0.0;          ///< displacement that the line has not been told of yet
    std::vector<double> tails;   ///< force at the next kick, or the next stages, of a head that does not move
    std::vector<double> recent;  ///< the head's last displacements, the latest first
    AlignedVector real, imaginary;
  };
  /// How many numbers a scheme needs.
  struct Shape {
    std::size_t tails = 0, recent = 0, modes = 0;
    bool operator==(const Shape&) const = default;
  };
  /// Force between steps with the head at x.
  using Force = std::function<double(const Axis& axis, double x)>;

  InfiniteLine(std::string name, Attachment attachment, const InfiniteLineOptions& options,
               const Communicator& communicator);

  std::int64_t bytes(const Scheme&) const override { return 0; }
  /// Its first `limit` sites, at whose end it is held.
  Assembly assemble(std::int64_t limit) const override;
  std::optional<MemoryFormulas> formulas(std::span<const double> times) const override;
  std::optional<Certificate> certificate() const override;
  void prepare(const RandomKey&) override;
  std::vector<StateField> fields() override;
  EnvironmentEnergy energy(std::span<const double> head) override;
  void force(std::span<const double> head, std::span<double> force) const override;
  std::unique_ptr<ExplicitMarch> explicit_march(const ExplicitScheme& scheme, double h) override;
  std::unique_ptr<ImplicitMarch> implicit_march(const CollocationScheme& scheme, double h) override;

  // What the marches work with.
  const InfiniteLineOptions& options() const { return options_; }
  /// h sqrt(lambda/M).
  double courant(double h) const;
  /// By axis; empty where this rank is not the root.
  std::vector<Axis>& axes() { return axes_; }
  /// Makes room for the state of a scheme with such a kernel; one that has moved under another scheme is at rest again.
  /// `time_unit` is that of the kernel, s.
  void take(const Shape& shape, Force force, const KernelCertificate& certificate, double time_unit);

 private:
  EnvironmentFacts describe() const override;
  std::optional<std::string> own_obstacle(const Scheme& scheme) const override;
  double force_on(const Axis& axis, double x) const;
  void resize(Axis& axis) const;

  InfiniteLineOptions options_;
  Shape shape_;
  Force force_;
  std::optional<KernelCertificate> certificate_;
  double horizon_ = 0.0, norm_unit_ = 0.0;  // of that, s and kg/s
  std::vector<Axis> axes_;
};

std::unique_ptr<ExplicitMarch> make_explicit_march(InfiniteLine& line, const ExplicitScheme& scheme, double h);
std::unique_ptr<ImplicitMarch> make_implicit_march(InfiniteLine& line, const CollocationScheme& scheme, double h);

}  // namespace bathline
