// Tests of text that is not TOML, or is made to break the parser.
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample_recipe.hpp"

namespace bathline::toml_document_test {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

namespace {

constexpr int long_text_size = 2'000'000;

std::string repeated(const std::string& text, int size) {
  std::string out;
  while (out.size() < static_cast<std::size_t>(size)) out += text;
  return out;
}

// Invalid text must give a report with short lines.
void expect_short_report(const std::string& text, const std::string& part) {
  const std::string report = parse(text).report;
  EXPECT_THAT(report.substr(0, 2000), HasSubstr(part));
  EXPECT_LT(report.size(), 21u * 500u);
}

}  // namespace

TEST(TomlDocument, ReportsTheLocationOfSyntaxErrors) {
  expect_mistakes(parse(sample_with("step = 0.1", "step = 0.1.2")).report, {{"r.toml:9:11: ", "not valid TOML"}});
  EXPECT_THAT(parse(sample_with("sites = 10", "sites = 10\nsites = 11")).report,
              HasSubstr("cannot redefine existing integer 'sites'"));
  EXPECT_THAT(parse(sample_with("[time]", "[time")).report, StartsWith("r.toml:8:6: not valid TOML"));
}

TEST(TomlDocument, ReportsOnlyTheSyntaxError) {
  EXPECT_THAT(parse("foo = 1\nbar = \n").report, AllOf(StartsWith("r.toml:2:7: not valid TOML"), Not(HasSubstr("\n"))));
}

TEST(TomlDocument, ReportsInvalidUtf8) {
  EXPECT_THAT(parse(sample_recipe + "# \xc3\x28\n").report, HasSubstr("r.toml:14:"));
  EXPECT_THAT(parse(sample_recipe + "# \xc3\x28\n").report, HasSubstr("not valid TOML: encountered invalid utf-8"));
}

TEST(TomlDocument, AcceptsByteOrderMarksAndLineEndsOfWindows) {
  std::string text = "\xef\xbb\xbf";
  text += sample_recipe;
  for (std::size_t i = 0; (i = text.find('\n', i)) != std::string::npos; i += 2) text.insert(i, 1, '\r');
  EXPECT_EQ(parse(text).report, "");
}

TEST(TomlDocument, SurvivesDeepNesting) {
  expect_short_report("x = " + repeated("[", long_text_size), "exceeded maximum nested value depth");
  expect_short_report("x = " + repeated("{a=", long_text_size), "exceeded maximum nested value depth");
  expect_short_report(repeated("a.", long_text_size) + "a = 1", "r.toml:1:32: a dotted key may have at most 16 parts");
  expect_short_report(std::string("[").append(repeated("a.", long_text_size)) + "a]",
                      "a dotted key may have at most 16 parts");
  std::string deepest = "x = ", end;
  for (int i = 0; i < 250; ++i) {
    deepest += "{a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a = ";
    end += "}";
  }
  expect_short_report(deepest + "1" + end, "unknown key `x`");
}

TEST(TomlDocument, SurvivesInvalidText) {
  std::mt19937 random(1);
  std::string bytes(long_text_size, ' '), letters(long_text_size, ' ');
  for (char& c : bytes) c = static_cast<char>(random());
  for (char& c : letters) c = static_cast<char>(' ' + random() % 95);
  expect_short_report(bytes, "not valid TOML");
  expect_short_report(letters, "not valid TOML");
  expect_short_report(repeated("[[claims]]\n", long_text_size), "needs the key `name`");
  expect_short_report(std::string(long_text_size, 'k') + " = 1", "unknown key `kkk");
  expect_short_report("title = \"" + std::string(long_text_size, 'x'), "not valid TOML");
  expect_short_report(std::string(long_text_size, '\0'), "not valid TOML");
}

TEST(TomlDocument, ReportsTwentyOfManyMistakes) {
  std::string text;
  for (int i = 0; i < 30; ++i) text += "key" + std::to_string(i) + " = 1\n";
  const std::string report = parse(text + sample_recipe).report;
  EXPECT_EQ(std::count(report.begin(), report.end(), '\n'), 20);
  EXPECT_THAT(report, testing::EndsWith("... and 10 more"));
}

}  // namespace bathline::toml_document_test
