// Quantities of claims: parsing, measuring and errors; and the evaluation of claims.
#include "record/claims.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "record/shared_folder.hpp"
#include "test_world.hpp"

namespace bathline::claims_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const double nan = std::nan("");

std::string rejection_of(const std::string& text) {
  ParsedQuantity quantity;
  std::string reason;
  return parse_quantity(text, quantity, reason) ? "" : reason;
}

TEST(Quantity, IsParsed) {
  ParsedQuantity quantity;
  std::string reason;
  ASSERT_TRUE(parse_quantity("closed.q[0][12].max", quantity, reason)) << reason;
  EXPECT_THAT(quantity.parts, ElementsAre("closed", "q"));
  EXPECT_THAT(quantity.indices, ElementsAre(0, 12));
  EXPECT_EQ(quantity.statistic, "max");
  ASSERT_TRUE(parse_quantity("wave.front_speed", quantity, reason));
  EXPECT_THAT(quantity.parts, ElementsAre("wave", "front_speed"));
  EXPECT_THAT(quantity.indices, IsEmpty());
  EXPECT_EQ(quantity.statistic, "");
  ASSERT_TRUE(parse_quantity("max", quantity, reason));
  EXPECT_THAT(quantity.parts, ElementsAre("max"));
  ASSERT_TRUE(parse_quantity("a b-1.x[3]", quantity, reason));
  EXPECT_THAT(quantity.parts, ElementsAre("a b-1", "x"));
  EXPECT_THAT(quantity.indices, ElementsAre(3));
}

TEST(Quantity, IsRejectedWithAReason) {
  EXPECT_THAT(rejection_of(""), HasSubstr("name is missing"));
  EXPECT_THAT(rejection_of("closed..q"), HasSubstr("name is missing"));
  EXPECT_THAT(rejection_of("closed."), HasSubstr("name is missing"));
  EXPECT_THAT(rejection_of("[0]"), HasSubstr("name is missing"));
  EXPECT_THAT(rejection_of("closed/q"), HasSubstr("dots"));
  EXPECT_THAT(rejection_of("closed.q]"), HasSubstr("`q]`"));
  EXPECT_THAT(rejection_of("closed.q[0"), HasSubstr("`[0`"));
  EXPECT_THAT(rejection_of("closed.q[0]x"), HasSubstr("`x`"));
  EXPECT_THAT(rejection_of("closed.q[-1]"), HasSubstr("`[-1]`"));
  EXPECT_THAT(rejection_of("closed.q[1.5]"), HasSubstr("[1"));
  EXPECT_THAT(rejection_of("closed.q[]"), HasSubstr("`[]`"));
  EXPECT_THAT(rejection_of("closed.q[99999999999999999999]"), HasSubstr("not an index"));
  EXPECT_THAT(rejection_of("closed[0].q"), HasSubstr("`q`"));
  EXPECT_THAT(rejection_of("closed.q[0].maximum"), HasSubstr("max_abs"));
}

/// A file with series, arrays, snapshots and names that contain dots or the name of a statistic.
class Claims : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<SharedFolder>();
    ResultFile file(folder_->file("a.h5"), test_world(), false);
    const Dimension particle{"particle", {0, 1}, "1", "particle"};
    const Dimension axis{"axis", {0}, "1", "axis"};
    {
      SeriesWriter closed =
          file.series({"closed",
                       "time",
                       {particle, axis},
                       {{"q", "m", "q", {"particle", "axis"}}, {"energy", "J", "e", {}}, {"holes", "J", "h", {}}}});
      for (int row = 0; row <= 10; ++row) {
        // q = t^2 and -t; the energy falls by 0.5 a second from a large value.
        const double t = 0.1 * row;
        closed.append(t, std::vector<double>{t * t, -t, 1e6 - 0.5 * t, row == 7 ? nan : 1.0});
      }
      closed.flush();
      file.series({"empty", "time", {}, {{"q", "m", "q", {}}}});
      SeriesWriter dotted = file.series({"gamma-0.5", "time", {}, {{"q", "m", "q", {}}, {"max", "m", "max", {}}}});
      dotted.append(0.0, std::vector<double>{42.0, 43.0});
      dotted.flush();
      SeriesWriter shifted = file.series({"shifted", "time", {}, {{"q", "m", "q", {}}}});
      SeriesWriter plain = file.series({"plain", "time", {}, {{"q", "m", "q", {}}}});
      for (double t : {0.0, 1.0}) {
        plain.append(t, std::vector<double>{t});
        shifted.append(t + 0.5, std::vector<double>{t});
      }
      plain.flush();
      shifted.flush();
      const std::vector<double> sites{0, 1, 2};
      SnapshotWriter line = file.snapshots("closed", "displacement", "m", "u", sites, 0, 3);
      line.append(0.0, std::vector<double>{1, 2, 3}, 0);
      line.append(1.0, std::vector<double>{4, 5, 6}, 0);
    }
    const std::vector<Dimension> step{{"step", {0.4, 0.2, 0.1}, "s", "step"}};
    file.array("convergence", {"midpoint/error_q", "m", "error", {}}, step, std::vector<double>{16, 4, 1});
    file.array("convergence", {"midpoint/order_q", "1", "order", {}}, {}, std::vector<double>{2.0});
    file.array("ensemble", {"mean_q", "m", "q", {}}, std::vector<Dimension>{{"time", {0, 1}, "s", "time"}, particle},
               std::vector<double>{1, 2, 3, 4});
    file.array("wave", {"count", "1", "count", {}}, {}, std::vector<double>{5.0});
    file.texts("convergence", "label", "method", std::vector<std::string>{"midpoint"}, "label");
    file.close();
    reader_ = std::make_unique<ResultReader>(folder_->file("a.h5"));
  }
  static void TearDownTestSuite() {
    reader_.reset();
    folder_.reset();
  }

  static Measurement measured(const std::string& text, std::optional<Window> window = std::nullopt) {
    ParsedQuantity quantity;
    std::string reason;
    if (!parse_quantity(text, quantity, reason)) return {nan, reason};
    return measure(*reader_, quantity, window);
  }
  static double value(const std::string& text, std::optional<Window> window = std::nullopt) {
    const Measurement measurement = measured(text, window);
    EXPECT_EQ(measurement.problem, "") << text;
    return measurement.value;
  }
  static std::string problem(const std::string& text, std::optional<Window> window = std::nullopt) {
    const Measurement measurement = measured(text, window);
    EXPECT_TRUE(std::isnan(measurement.value)) << text;
    return measurement.problem;
  }

  static std::unique_ptr<SharedFolder> folder_;
  static std::unique_ptr<ResultReader> reader_;
};

std::unique_ptr<SharedFolder> Claims::folder_;
std::unique_ptr<ResultReader> Claims::reader_;

TEST_F(Claims, MeasureEveryStatistic) {
  EXPECT_EQ(value("closed.q[0].first"), 0.0);
  EXPECT_DOUBLE_EQ(value("closed.q[0].last"), 1.0);
  EXPECT_DOUBLE_EQ(value("closed.q[1][0].last"), -1.0);
  EXPECT_DOUBLE_EQ(value("closed.q[1].min"), -1.0);
  EXPECT_DOUBLE_EQ(value("closed.q[0].max"), 1.0);
  EXPECT_DOUBLE_EQ(value("closed.q[0].mean"), 0.35);
  EXPECT_DOUBLE_EQ(value("closed.q[1].rms"), std::sqrt(0.35));
  EXPECT_DOUBLE_EQ(value("closed.q[1].max_abs"), 1.0);
  EXPECT_DOUBLE_EQ(value("closed.q[1].max"), 0.0);
  EXPECT_DOUBLE_EQ(value("closed.q.peak_to_peak"), 2.0);
  EXPECT_DOUBLE_EQ(value("closed.q[0].slope"), 1.0);
  EXPECT_DOUBLE_EQ(value("closed.q[0].max_at"), 1.0);
  EXPECT_DOUBLE_EQ(value("closed.q[1].max_at"), 0.0);
  EXPECT_DOUBLE_EQ(value("closed.q[1].min_at"), 1.0);
  EXPECT_EQ(value("closed.q.count"), 22.0);
  EXPECT_EQ(value("closed.energy.count"), 11.0);
  EXPECT_DOUBLE_EQ(value("closed.q.min"), -1.0);
  EXPECT_NEAR(value("closed.q.slope"), 0.0, 1e-15);  // both particles in one fit: 1 and -1
}

TEST_F(Claims, KeepTheDigitsOfASmallDriftOfALargeValue) {
  EXPECT_NEAR(value("closed.energy.slope"), -0.5, 1e-8);
  EXPECT_NEAR(value("closed.energy.mean"), 1e6 - 0.25, 1e-9);
}

TEST_F(Claims, ReadSingleNumbersAndElements) {
  EXPECT_EQ(value("convergence.midpoint.order_q"), 2.0);
  EXPECT_EQ(value("convergence.midpoint.order_q.max"), 2.0);
  EXPECT_EQ(value("convergence.midpoint.error_q[2]"), 1.0);
  EXPECT_EQ(value("convergence.midpoint.error_q.max"), 16.0);
  EXPECT_EQ(value("convergence.midpoint.step[1]"), 0.2);
  EXPECT_EQ(value("convergence.midpoint.step.min"), 0.1);
  EXPECT_DOUBLE_EQ(value("closed.time.max"), 1.0);
  EXPECT_EQ(value("closed.displacement[2].last"), 6.0);
  EXPECT_EQ(value("closed.displacement.max"), 6.0);
  EXPECT_EQ(value("gamma-0.5.q"), 42.0);
  EXPECT_EQ(value("gamma-0.5.max"), 43.0);
  EXPECT_EQ(value("wave.count"), 5.0);
  EXPECT_EQ(value("wave.count.count"), 1.0);
  // Over time, though of fixed length: the index is the particle's.
  EXPECT_EQ(value("ensemble.mean_q[1].first"), 2.0);
  EXPECT_EQ(value("ensemble.mean_q[0]", Window{1.0, 1.0}), 3.0);
}

TEST_F(Claims, SelectRowsByTheirCoordinate) {
  EXPECT_EQ(value("closed.energy.count", Window{0.3, 0.6}), 4.0);  // 3 * 0.1 is above 0.3 and belongs
  EXPECT_DOUBLE_EQ(value("closed.q[1].first", Window{0.3}), -0.3);
  EXPECT_DOUBLE_EQ(value("closed.q[1].last", {{-1.0, 0.6}}), -0.6);
  EXPECT_DOUBLE_EQ(value("closed.q[0]", Window{0.5, 0.5}), 0.25);
}

TEST_F(Claims, SelectRowsOfArraysAndSnapshots) {
  EXPECT_EQ(value("convergence.midpoint.error_q.max", Window{0.0, 0.2}), 4.0);
  EXPECT_EQ(value("closed.displacement.max", Window{0.0, 0.5}), 3.0);
  EXPECT_EQ(value("closed.time.count", Window{0.5}), 6.0);
  EXPECT_EQ(value("closed.holes.max", Window{0.0, 0.6}), 1.0);
}

TEST_F(Claims, NameWhatIsMissing) {
  EXPECT_EQ(problem("closed.energy_totl.min"),
            "no variable `energy_totl` in group `closed`; it has axis, displacement, energy, holes, particle, q, site, "
            "snapshot_time, time");
  EXPECT_THAT(problem("clsed.q.min"), StartsWith("no group `clsed` in the file; it has closed, convergence, empty"));
  EXPECT_THAT(problem("nothing"), StartsWith("no variable `nothing` in the file; it has"));
  EXPECT_THAT(problem("convergence.midpoint"), StartsWith("`convergence/midpoint` is a group, not a variable"));
  EXPECT_THAT(problem("convergence.midpoint.max"), StartsWith("`convergence/midpoint` is a group, not a variable"));
  EXPECT_THAT(problem("closed.q.maximum"), HasSubstr("nor a statistic (first, last"));
  EXPECT_THAT(problem("gamma-0.5.p"), StartsWith("no variable `p` in group `gamma-0.5`"));
}

TEST_F(Claims, SayWhyThereIsNoSingleNumber) {
  EXPECT_THAT(problem("closed.q"), HasSubstr("has 22 values"));
  EXPECT_THAT(problem("closed.q[0]"), HasSubstr("has 11 values"));
  EXPECT_THAT(problem("convergence.midpoint.error_q"), HasSubstr("has 3 values"));
  EXPECT_THAT(problem("closed.q[2].max"), HasSubstr("dimension `particle` has 2"));
  EXPECT_THAT(problem("closed.q[0][1].max"), HasSubstr("dimension `axis` has 1"));
  EXPECT_THAT(problem("closed.q[0][0][0].max"), HasSubstr("at most 2 indices"));
  EXPECT_THAT(problem("convergence.midpoint.error_q[3]"), HasSubstr("dimension `step` has 3"));
  EXPECT_THAT(problem("convergence.midpoint.order_q[0]"), HasSubstr("single number"));
  EXPECT_THAT(problem("closed.q.last"), HasSubstr("2 components"));
  EXPECT_THAT(problem("empty.q.max"), HasSubstr("is empty"));
  EXPECT_EQ(value("empty.q.count"), 0.0);
  EXPECT_THAT(problem("closed.holes.min"), HasSubstr("is NaN at time 0.7"));
  EXPECT_THAT(problem("gamma-0.5.q.slope"), HasSubstr("two different"));
  EXPECT_THAT(problem("closed.q[0].max", Window{2.0, 3.0}),
              HasSubstr("between 2 and 3; its coordinate is from 0 to 1"));
  EXPECT_THAT(problem("convergence.midpoint.order_q", Window{0.0, 1.0}), HasSubstr("single number"));
  EXPECT_THAT(problem("convergence.label"), HasSubstr("does not hold numbers"));
}

/// A claim as from the recipe's parser.
class ClaimOf {
 public:
  explicit ClaimOf(const std::string& quantity) {
    set("name", "the-" + quantity);
    set("quantity", quantity);
    set("source", std::string("ours"));
  }
  template <class Value>
  ClaimOf& set(const std::string& key, Value value) {
    section_.set(key, Section::Value(std::move(value)), {});
    return *this;
  }
  ClaimOf& expect(double value) { return set("expect", value); }
  ClaimOf& bounds(double lower, double upper) { return set("bounds", std::vector<double>{lower, upper}); }
  const Section& section() const { return section_; }

 private:
  Section section_;
};

class Verdict : public Claims {
 protected:
  static ClaimResult of(const ClaimOf& claim) {
    return evaluate_claims(*reader_, std::span(&claim.section(), 1)).front();
  }
};

TEST_F(Verdict, FollowsExpectationAndTolerance) {
  const std::string quantity = "convergence.midpoint.order_q";  // 2
  EXPECT_TRUE(of(ClaimOf(quantity).expect(2.0)).passed);
  EXPECT_FALSE(of(ClaimOf(quantity).expect(2.1)).passed);
  EXPECT_TRUE(of(ClaimOf(quantity).expect(2.5).set("tolerance", 0.5)).passed);
  EXPECT_FALSE(of(ClaimOf(quantity).expect(2.5).set("tolerance", 0.49)).passed);
  EXPECT_TRUE(of(ClaimOf(quantity).expect(2.5).set("relative_tolerance", 0.2)).passed);
  EXPECT_FALSE(of(ClaimOf(quantity).expect(2.5).set("relative_tolerance", 0.19)).passed);
  EXPECT_TRUE(of(ClaimOf(quantity).expect(2.5).set("tolerance", 0.0).set("relative_tolerance", 0.2)).passed);
  const ClaimResult negative = of(ClaimOf("closed.q[1].last").expect(-2.0).set("relative_tolerance", 0.5));
  EXPECT_TRUE(negative.passed);
  EXPECT_EQ(negative.lower, -3.0);
  EXPECT_EQ(negative.upper, -1.0);
  EXPECT_EQ(negative.expected, -2.0);
  EXPECT_DOUBLE_EQ(negative.measured, -1.0);
}

TEST_F(Verdict, FollowsBounds) {
  const std::string quantity = "convergence.midpoint.order_q";
  const ClaimResult inside = of(ClaimOf(quantity).bounds(2.0, 3.0).set("note", std::string("a note")));
  EXPECT_TRUE(inside.holds);
  EXPECT_TRUE(inside.passed);
  EXPECT_TRUE(std::isnan(inside.expected));
  EXPECT_EQ(inside.lower, 2.0);
  EXPECT_EQ(inside.upper, 3.0);
  EXPECT_EQ(inside.name, "the-" + quantity);
  EXPECT_EQ(inside.quantity, quantity);
  EXPECT_EQ(inside.source, "ours");
  EXPECT_EQ(inside.note, "a note");
  EXPECT_TRUE(of(ClaimOf(quantity).bounds(1.0, 2.0)).passed);
  EXPECT_FALSE(of(ClaimOf(quantity).bounds(2.1, 3.0)).passed);
  EXPECT_FALSE(of(ClaimOf(quantity).bounds(1.0, 1.9)).passed);
  EXPECT_FALSE(of(ClaimOf(quantity).bounds(3.0, 1.0)).passed);
  EXPECT_FALSE(of(ClaimOf(quantity).bounds(3.0, 1.0).set("supported", false)).passed);
  EXPECT_FALSE(of(ClaimOf(quantity)).passed);
  EXPECT_THAT(of(ClaimOf(quantity)).problem, HasSubstr("neither"));
}

TEST_F(Verdict, LooksThroughTheWindow) {
  EXPECT_TRUE(of(ClaimOf("closed.q[1].min").expect(-0.4).set("tolerance", 1e-12).set("until", 0.4)).passed);
  EXPECT_TRUE(of(ClaimOf("closed.q[1].max").expect(-0.4).set("tolerance", 1e-12).set("from", 0.4)).passed);
  EXPECT_FALSE(of(ClaimOf("closed.q[1].max").expect(-0.4).set("tolerance", 1e-12)).passed);
}

// The maximum of q[0] - q[1] = t^2 + t is 2; the maximal magnitudes of both are 1, and their difference is 0.
TEST_F(Verdict, SubtractsRowByRowWithoutAStatistic) {
  const auto less = [](const std::string& quantity, const std::string& minus) {
    return ClaimOf(quantity).expect(0.0).set("minus", minus);
  };
  EXPECT_DOUBLE_EQ(of(less("closed.q[0].max_abs", "closed.q[1]")).measured, 2.0);
  EXPECT_DOUBLE_EQ(of(less("closed.q[0].max_abs", "closed.q[1].max_abs")).measured, 0.0);
  EXPECT_DOUBLE_EQ(of(less("closed.q[0].max_abs", "closed.q[1]").set("until", 0.5)).measured, 0.75);
  EXPECT_EQ(of(less("closed.q.max_abs", "closed.q")).measured, 0.0);
  EXPECT_EQ(of(less("closed.q[0].max", "convergence.midpoint.order_q")).measured, -1.0);
  EXPECT_EQ(of(less("convergence.midpoint.order_q", "wave.count")).measured, -3.0);
  EXPECT_THAT(of(less("closed.q.max", "closed.energy")).problem, HasSubstr("numbers of values"));
  EXPECT_THAT(of(less("closed.energy.max", "gamma-0.5.q")).problem, HasSubstr("numbers of values"));
  EXPECT_THAT(of(less("shifted.q.max", "plain.q")).problem, HasSubstr("different coordinates"));
  EXPECT_THAT(of(less("closed.energy.max", "closed.holes")).problem, HasSubstr("NaN"));
  EXPECT_THAT(of(less("closed.q[0].max", "closed.nothing")).problem, HasSubstr("`nothing`"));
}

TEST_F(Verdict, IsNoneOnAQuotientThatIsNotFinite) {
  const auto over_zero = [](const std::string& quantity) {
    return ClaimOf(quantity).expect(4.0).set("supported", false).set("divided_by", std::string("closed.q[0].first"));
  };
  // The first position is 0: 0/0 and 1/0 are no measurements that refute anything.
  EXPECT_FALSE(of(over_zero("closed.q[0].first")).passed);
  EXPECT_FALSE(of(over_zero("closed.q[0].last")).passed);
}

TEST_F(Verdict, PassesUnsupportedStatementsThatFail) {
  const std::string quantity = "convergence.midpoint.order_q";
  const ClaimResult refuted = of(ClaimOf(quantity).expect(4.0).set("supported", false));
  EXPECT_FALSE(refuted.supported);
  EXPECT_FALSE(refuted.holds);
  EXPECT_TRUE(refuted.passed);
  const ClaimResult upheld = of(ClaimOf(quantity).expect(2.0).set("supported", false));
  EXPECT_TRUE(upheld.holds);
  EXPECT_FALSE(upheld.passed);
  EXPECT_THAT(upheld.problem, HasSubstr("but it holds"));
}

TEST_F(Verdict, FailsWithoutAMeasurement) {
  for (const bool supported : {true, false}) {
    for (const std::string quantity : {"nowhere.q.max", "closed.q[7].max", "closed.holes.max", "closed.q", "a..b"}) {
      const ClaimResult result = of(ClaimOf(quantity).bounds(-1e300, 1e300).set("supported", supported));
      EXPECT_TRUE(std::isnan(result.measured));
      EXPECT_FALSE(result.passed) << quantity;
      EXPECT_NE(result.problem, "");
    }
  }
}

TEST_F(Verdict, IsKeptInTheFile) {
  const SharedFolder folder;
  const std::string path = folder.file("b.h5");
  {
    ResultFile file(path, test_world(), false);
    file.attribute("status", std::string("partial"));
    file.close();
  }
  EXPECT_TRUE(read_claims(ResultReader(path)).empty());
  const std::vector<ClaimResult> first{of(ClaimOf("nowhere.q").expect(1.0))};
  write_claims(path, first);
  const std::vector<ClaimResult> claims{
      of(ClaimOf("closed.q[0].max")
             .expect(1.0)
             .set("tolerance", 0.1)
             .set("uncertainty", 0.03)
             .set("note", std::string("größer"))),
      of(ClaimOf("convergence.midpoint.order_q").bounds(3, 4).set("supported", false)),
      of(ClaimOf("nowhere.q").expect(1.0))};
  write_claims(path, claims);

  const ResultReader reader(path);
  EXPECT_EQ(reader.attribute("status"), "complete");
  EXPECT_THAT(reader.read("claims/claim").values, ElementsAre(0, 1, 2));
  EXPECT_EQ(reader.scale("claims/passed", 0), "claims/claim");
  const auto read = read_claims(reader);
  ASSERT_EQ(read.size(), claims.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i].name, claims[i].name);
    EXPECT_EQ(read[i].quantity, claims[i].quantity);
    EXPECT_EQ(read[i].source, claims[i].source);
    EXPECT_EQ(read[i].note, claims[i].note);
    EXPECT_EQ(read[i].problem, claims[i].problem);
    EXPECT_THAT(read[i].measured, testing::NanSensitiveDoubleEq(claims[i].measured));
    EXPECT_THAT(read[i].expected, testing::NanSensitiveDoubleEq(claims[i].expected));
    EXPECT_THAT(read[i].lower, testing::NanSensitiveDoubleEq(claims[i].lower));
    EXPECT_THAT(read[i].upper, testing::NanSensitiveDoubleEq(claims[i].upper));
    EXPECT_THAT(read[i].uncertainty, testing::NanSensitiveDoubleEq(claims[i].uncertainty));
    EXPECT_EQ(read[i].supported, claims[i].supported);
    EXPECT_EQ(read[i].holds, claims[i].holds);
    EXPECT_EQ(read[i].passed, claims[i].passed);
  }
  EXPECT_EQ(reader.read("claims/uncertainty").values.at(0), 0.03);
  EXPECT_THROW(write_claims(folder.file("missing.h5"), claims), FileError);
  EXPECT_THROW(write_claims(folder.path(), claims), FileError);
}

TEST_F(Verdict, IsShownInATable) {
  const std::vector<ClaimResult> claims{
      of(ClaimOf("closed.q[0].max").set("name", std::string("größe")).expect(1.0).set("tolerance", 0.01)),
      of(ClaimOf("convergence.midpoint.order_q")
             .bounds(3, 4)
             .set("name", std::string("order"))
             .set("uncertainty", 0.125)),
      of(ClaimOf("convergence.midpoint.order_q").expect(4).set("name", std::string("o2")).set("supported", false)),
      of(ClaimOf("nowhere.q").expect(1.0).set("name", std::string("nothing")))};
  EXPECT_THAT(claims_table(claims), StartsWith("               claim    measured  expected   uncertainty  source\n"
                                               "PASS           größe           1  1 +- 0.01  -            ours\n"
                                               "FAIL           order           2  3 to 4     0.12         ours\n"
                                               "not supported  o2              2  4          -            ours\n"
                                               "FAIL           nothing         -  1          -            ours\n"
                                               "      no group `nowhere` in the file; it has closed"));
}

}  // namespace
}  // namespace bathline::claims_test
