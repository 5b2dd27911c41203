// A chunk of bath oscillators in registers or through stages, against plain loops.
#include "model/oscillator_bath/chunk_stepper.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "explicit_schemes.hpp"
#include "serial_oscillator_bath.hpp"

namespace bathline::kernel_test {
namespace {

constexpr double h = 0.23;

/// Somewhere, the same for the same place in a pass.
double head_at(std::size_t substep) { return std::sin(0.4 * static_cast<double>(substep)); }

void set_out(SerialOscillatorBath& star) {
  RandomNumbers random(7);
  star.w = random.list(star.w.size());
  for (std::size_t j = 0; j < star.p.size(); ++j) star.p[j] = star.stiffness[j] * random.uniform();
}

void expect_close(const std::vector<double>& actual, const std::vector<double>& expected, const char* what) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(actual[i], expected[i], 1e-13) << what << " " << i;
}

/// The star goes on with its head at `heads`; what is felt with the head at 0 is the pull. `pulls` began at 10.
void expect_pulls(SerialOscillatorBath& star, const ExplicitScheme& scheme, const std::vector<double>& heads,
                  const std::vector<double>& pulls) {
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const Substep& substep = scheme.substeps[i % scheme.substeps.size()];
    const bool felt = i == 0 || substep.kind != Substep::Kind::drift;
    EXPECT_NEAR(pulls[i], felt ? 10.0 + star.force_on_head(0.0) : 10.0, 1e-13) << "substep " << i;
    star.substep(substep, scheme, h, heads[i]);
  }
}

class StarKernelSchemes : public testing::TestWithParam<int> {
 protected:
  const NamedScheme& one() const { return explicit_schemes()[static_cast<std::size_t>(GetParam())]; }
};

TEST_P(StarKernelSchemes, EqualThePlainLoopWhateverTheCount) {
  const ExplicitScheme& scheme = one().scheme;
  const std::size_t substeps = scheme.substeps.size();
  for (const int count : {1, 2, 7, 8, 9, 23, 24, 25, 47, 48, 49, 79, 80, 81, 300, OscillatorChunkStepper::chunk}) {
    SCOPED_TRACE(testing::Message() << one().name << ", " << count << " oscillators");
    SerialOscillatorBath star(uneven_spectrum(count));
    set_out(star);
    std::vector<double> w = star.w, p = star.p;
    std::vector<double> heads;
    for (std::size_t i = 0; i < 3 * substeps; ++i) heads.push_back(head_at(i));
    std::vector<double> pulls(5 * substeps, 10.0);
    OscillatorChunkStepper kernel(scheme, h);
    kernel.advance_block(heads, count, w.data(), p.data(), star.stiffness.data(), star.inverse_mass.data(), pulls);

    for (std::size_t i = 0; i < heads.size(); ++i) star.substep(scheme.substeps[i % substeps], scheme, h, heads[i]);
    if (one().is_splitting()) {
      EXPECT_EQ(w, star.w);
      EXPECT_EQ(p, star.p);
    } else {
      expect_close(w, star.w, "displacement");
      expect_close(p, star.p, "momentum");
    }
    // The copies go on alone, towards a head at 0.
    expect_pulls(star, scheme, std::vector<double>(pulls.size()), pulls);
    SerialOscillatorBath at_rest(uneven_spectrum(count));
    pulls.assign(heads.size(), 10.0);
    kernel.impulse_response(heads, count, star.stiffness.data(), star.inverse_mass.data(), pulls);
    expect_pulls(at_rest, scheme, heads, pulls);
  }
}

TEST_P(StarKernelSchemes, DoNothingInNoTime) {
  SerialOscillatorBath star(uneven_spectrum(100));
  set_out(star);
  std::vector<double> w = star.w, p = star.p;
  OscillatorChunkStepper(one().scheme, h)
      .advance_block({}, 100, w.data(), p.data(), star.stiffness.data(), star.inverse_mass.data(), {});
  EXPECT_EQ(w, star.w);
  EXPECT_EQ(p, star.p);
}

INSTANTIATE_TEST_SUITE_P(Schemes, StarKernelSchemes, testing::Range(0, static_cast<int>(explicit_schemes().size())),
                         [](const auto& info) { return "scheme" + std::to_string(info.param); });

// How many numbers a register holds must not show: element j belongs to sum j % 8, these are added in pairs.
TEST(OscillatorChunkStepper, SumsInEightInterleavedParts) {
  for (const int count : {1, 8, 13, 24, 80, 100, 479}) {
    RandomNumbers random(static_cast<std::uint64_t>(count));
    std::vector<double> k = random.list(static_cast<std::size_t>(count)), w = random.list(k.size());
    std::vector<double> inverse(k.size()), p(k.size());
    double part[8] = {};
    for (std::size_t j = 0; j < k.size(); ++j) part[j % 8] = std::fma(k[j], w[j], part[j % 8]);
    const double sum = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
    EXPECT_EQ(OscillatorChunkStepper::pull(count, k.data(), w.data()), sum) << count;
    const ExplicitScheme scheme = splitting({{Substep::Kind::kick, 0.5}, {Substep::Kind::kick, 0.5}});
    std::vector<double> pulls = {0.0, 0.0};
    OscillatorChunkStepper(scheme, h).advance_block({}, count, w.data(), p.data(), k.data(), inverse.data(), pulls);
    EXPECT_EQ(pulls[0], sum) << count;
  }
}

}  // namespace
}  // namespace bathline::kernel_test
