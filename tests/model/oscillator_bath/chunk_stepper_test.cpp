// A chunk of bath oscillators in registers or through stages, against plain loops.
#include "model/oscillator_bath/chunk_stepper.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "explicit_schemes.hpp"
#include "serial_oscillator_bath.hpp"

namespace bathline::chunk_stepper_test {
namespace {

constexpr double h = 0.23;

/// Displacement of the head, which depends on the substep only.
double head_at(std::size_t substep) { return std::sin(0.4 * static_cast<double>(substep)); }

void set_random_state(SerialOscillatorBath& bath) {
  RandomNumbers random(7);
  bath.w = random.list(bath.w.size());
  for (std::size_t j = 0; j < bath.p.size(); ++j) bath.p[j] = bath.stiffness[j] * random.uniform();
}

void expect_close(const std::vector<double>& actual, const std::vector<double>& expected, const char* what) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(actual[i], expected[i], 1e-13) << what << " " << i;
}

/// Advances the bath with its head at `heads`; the pull is the force on a head at 0. `pulls` were 10 before.
void expect_pulls(SerialOscillatorBath& bath, const ExplicitScheme& scheme, const std::vector<double>& heads,
                  const std::vector<double>& pulls) {
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const Substep& substep = scheme.substeps[i % scheme.substeps.size()];
    const bool has_force = i == 0 || substep.kind != Substep::Kind::drift;
    EXPECT_NEAR(pulls[i], has_force ? 10.0 + bath.force_on_head(0.0) : 10.0, 1e-13) << "substep " << i;
    bath.substep(substep, scheme, h, heads[i]);
  }
}

class ChunkStepperSchemes : public testing::TestWithParam<int> {
 protected:
  const NamedScheme& this_case() const { return explicit_schemes()[static_cast<std::size_t>(GetParam())]; }
};

TEST_P(ChunkStepperSchemes, EqualThePlainLoopForAnyCount) {
  const ExplicitScheme& scheme = this_case().scheme;
  const std::size_t substeps = scheme.substeps.size();
  for (const int count : {1, 2, 7, 8, 9, 23, 24, 25, 47, 48, 49, 79, 80, 81, 300, OscillatorChunkStepper::chunk}) {
    SCOPED_TRACE(testing::Message() << this_case().name << ", " << count << " oscillators");
    SerialOscillatorBath bath(uneven_spectrum(count));
    set_random_state(bath);
    std::vector<double> w = bath.w, p = bath.p;
    std::vector<double> heads;
    for (std::size_t i = 0; i < 3 * substeps; ++i) heads.push_back(head_at(i));
    std::vector<double> pulls(5 * substeps, 10.0);
    OscillatorChunkStepper kernel(scheme, h);
    kernel.advance_block(heads, count, w.data(), p.data(), bath.stiffness.data(), bath.inverse_mass.data(), pulls);

    for (std::size_t i = 0; i < heads.size(); ++i) bath.substep(scheme.substeps[i % substeps], scheme, h, heads[i]);
    if (this_case().is_splitting()) {
      EXPECT_EQ(w, bath.w);
      EXPECT_EQ(p, bath.p);
    } else {
      expect_close(w, bath.w, "displacement");
      expect_close(p, bath.p, "momentum");
    }
    // The copies continue with the head at 0.
    expect_pulls(bath, scheme, std::vector<double>(pulls.size()), pulls);
    SerialOscillatorBath at_rest(uneven_spectrum(count));
    pulls.assign(heads.size(), 10.0);
    kernel.impulse_response(heads, count, bath.stiffness.data(), bath.inverse_mass.data(), pulls);
    expect_pulls(at_rest, scheme, heads, pulls);
  }
}

TEST_P(ChunkStepperSchemes, ChangeNothingWithoutSubsteps) {
  SerialOscillatorBath bath(uneven_spectrum(100));
  set_random_state(bath);
  std::vector<double> w = bath.w, p = bath.p;
  OscillatorChunkStepper(this_case().scheme, h)
      .advance_block({}, 100, w.data(), p.data(), bath.stiffness.data(), bath.inverse_mass.data(), {});
  EXPECT_EQ(w, bath.w);
  EXPECT_EQ(p, bath.p);
}

INSTANTIATE_TEST_SUITE_P(Schemes, ChunkStepperSchemes, testing::Range(0, static_cast<int>(explicit_schemes().size())),
                         [](const auto& info) { return "scheme" + std::to_string(info.param); });

TEST(OscillatorChunkStepper, SumsPullsEquallyAloneAndWithinASubstep) {
  for (const int count : {1, 8, 13, 24, 80, 100, 479}) {
    RandomNumbers random(static_cast<std::uint64_t>(count));
    std::vector<double> k = random.list(static_cast<std::size_t>(count)), w = random.list(k.size());
    std::vector<double> inverse(k.size()), p(k.size());
    double plain = 0.0, size = 0.0;
    for (std::size_t j = 0; j < k.size(); ++j) {
      plain += k[j] * w[j];
      size += std::abs(k[j] * w[j]);
    }
    const double sum = OscillatorChunkStepper::pull(count, k.data(), w.data());
    EXPECT_NEAR(sum, plain, 2.3e-16 * count * size) << count;
    const ExplicitScheme scheme = splitting({{Substep::Kind::kick, 0.5}, {Substep::Kind::kick, 0.5}});
    std::vector<double> pulls = {0.0, 0.0};
    OscillatorChunkStepper(scheme, h).advance_block({}, count, w.data(), p.data(), k.data(), inverse.data(), pulls);
    EXPECT_EQ(pulls[0], sum) << count;
  }
}

}  // namespace
}  // namespace bathline::chunk_stepper_test
