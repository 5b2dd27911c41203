// Creating, refusing, replacing and closing result files; attributes, small arrays and texts.
#include "record/result_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "recipe/mistakes.hpp"
#include "record/shared_folder.hpp"
#include "test_world.hpp"

namespace bathline::result_file_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// The message of the `Error` that `action` throws, or "" if it throws none.
template <class Error, class Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void write_text(const std::string& path, const std::string& text) {
  if (test_world().is_root()) std::ofstream(path) << text;
  test_world().barrier();
}

std::string text_of(const std::string& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::size_t entries_of(const std::string& folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

Dimension steps() { return {"step", {0.1, 0.2, 0.4}, "s", "step size"}; }

TEST(MpiResultFile, KeepsAttributesOfEveryKind) {
  const SharedFolder folder;
  const std::string recipe(300000, 'x');  // beyond the 64 KiB of an object header
  ResultFile file(folder.file("a.h5"), test_world(), false);
  EXPECT_EQ(file.path(), folder.file("a.h5"));
  file.attribute("title", std::string("Größe"));
  file.attribute("recipe", recipe + "end");
  file.attribute("empty", std::string());
  file.attribute("seed", std::int64_t{-9007199254740993});
  file.attribute("wall_time_s", 0.1);
  file.array("closed", {"energy", "J", "energy", {}}, {}, std::vector{2.5});
  file.attribute("label", std::string("one"), "closed");
  file.attribute("remark", std::string("two"), "closed/energy");
  file.close();

  const ResultReader reader(folder.file("a.h5"));
  EXPECT_EQ(reader.attribute("title"), "Größe");
  EXPECT_EQ(reader.attribute("recipe"), recipe + "end");
  EXPECT_EQ(reader.attribute("empty"), "");
  EXPECT_EQ(reader.attribute("seed"), "-9007199254740993");
  EXPECT_EQ(reader.attribute("wall_time_s"), "0.1");
  EXPECT_EQ(reader.attribute("label", "closed"), "one");
  EXPECT_EQ(reader.attribute("remark", "closed/energy"), "two");
  EXPECT_EQ(reader.attribute("units", "closed/energy"), "J");
  EXPECT_FALSE(reader.has_attribute("seed", "closed"));
  EXPECT_FALSE(reader.has_attribute("seed", "nowhere"));
  EXPECT_THROW(reader.attribute("nothing"), FileError);
}

TEST(MpiResultFile, ReplacesAttributesByThoseOfRankZero) {
  const SharedFolder folder;
  ResultFile file(folder.file("a.h5"), test_world(), false);
  file.attribute("status", std::string("partial"));
  file.attribute("status", std::string("complete on rank ") + std::to_string(test_world().rank()));
  file.attribute("started", static_cast<double>(test_world().rank()));
  file.close();
  const ResultReader reader(folder.file("a.h5"));
  EXPECT_EQ(reader.attribute("status"), "complete on rank 0");
  EXPECT_EQ(reader.attribute("started"), "0");
}

TEST(MpiResultFile, RefusesAnExistingFile) {
  const SharedFolder folder;
  const std::string path = folder.file("results.h5");
  write_text(path, "precious");
  const auto create = [&] { ResultFile(path, test_world(), false); };
  EXPECT_EQ(message_of<UsageError>(create), path + " exists already; use --overwrite to replace it");
  EXPECT_EQ(text_of(path), "precious");
}

TEST(MpiResultFile, ReplacesAnExistingFileOnRequest) {
  const SharedFolder folder;
  const std::string path = folder.file("results.h5");
  write_text(path, "\x89HDF\r\n\x1a\nold");
  ResultFile file(path, test_world(), true);
  file.attribute("title", std::string("new"));
  file.close();
  EXPECT_EQ(ResultReader(path).attribute("title"), "new");
  EXPECT_EQ(entries_of(folder.path()), 1u);
}

TEST(MpiResultFile, ReplacesOnlyResults) {
  const SharedFolder folder;
  const std::string path = folder.file("recipe.toml");
  write_text(path, "title = \"mine\"\n");
  EXPECT_THROW(ResultFile(path, test_world(), true), UsageError);
  EXPECT_EQ(std::filesystem::file_size(path), 15u);
}

TEST(MpiResultFile, ReplacesWhatALinkPointsTo) {
  const SharedFolder folder;
  write_text(folder.file("target.h5"), "");
  if (test_world().is_root()) std::filesystem::create_symlink("target.h5", folder.file("link.h5"));
  test_world().barrier();
  ResultFile file(folder.file("link.h5"), test_world(), true);
  file.close();
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link.h5")));
  EXPECT_NO_THROW(ResultReader(folder.file("target.h5")));
}

TEST(MpiResultFile, NamesTheMissingDirectory) {
  const SharedFolder folder;
  const std::string path = folder.file("no/such/place/a.h5");
  for (const bool overwrite : {false, true}) {
    const std::string message = message_of<FileError>([&] { ResultFile(path, test_world(), overwrite); });
    EXPECT_THAT(message, HasSubstr(path));
    EXPECT_THAT(message, HasSubstr("no directory " + folder.file("no/such/place")));
    EXPECT_THAT(message, HasSubstr("No such file or directory"));
  }
  EXPECT_EQ(entries_of(folder.path()), 0u);
}

TEST(MpiResultFile, SaysWhyAFileCannotBeCreated) {
  const SharedFolder folder;
  write_text(folder.file("text"), "not a directory");
  const auto reason = [&](const std::string& path, bool overwrite) {
    return message_of<FileError>([&] { ResultFile(path, test_world(), overwrite); });
  };
  EXPECT_THAT(reason(folder.path(), true), HasSubstr("Is a directory"));
  EXPECT_THAT(reason("/dev/null", true), HasSubstr("not a regular file"));
  // Root may write everywhere except in /sys.
  std::string forbidden = "/sys";
  if (geteuid() != 0) {
    forbidden = folder.file("forbidden");
    std::filesystem::create_directory(forbidden);
    std::filesystem::permissions(forbidden, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  }
  EXPECT_THAT(reason(forbidden + "/a.h5", false),
              testing::AnyOf(HasSubstr("Permission denied"), HasSubstr("Read-only file system")));
  EXPECT_THAT(reason(folder.file("text/a.h5"), false), HasSubstr("text"));
  EXPECT_EQ(text_of(folder.file("text")), "not a directory");
}

TEST(MpiResultFile, StoresArraysOverSharedScales) {
  const SharedFolder folder;
  ResultFile file(folder.file("a.h5"), test_world(), false);
  const bool root = test_world().is_root();
  const auto on_root = [&](std::vector<double> values) { return root ? values : std::vector<double>{}; };
  const Dimension step = steps();
  const Dimension axis{"axis", {0, 1}, "1", "axis"};
  file.array("convergence", {"error_q", "m", "error of q", {}}, std::span(&step, 1), on_root({1, 2, 3}));
  file.array("convergence", {"error_p", "kg m/s", "error of p", {}}, std::vector{step, axis},
             on_root({1, 2, 3, 4, 5, 6}));
  file.array("convergence", {"midpoint/order_q", "1", "order", {}}, {}, on_root({2.01}));
  file.array("convergence/midpoint", {"error_q", "m", "error of q", {}}, std::span(&step, 1), on_root({7, 8, 9}));
  file.close();

  const ResultReader reader(folder.file("a.h5"));
  EXPECT_THAT(reader.names("convergence"), ElementsAre("axis", "error_p", "error_q", "midpoint", "step"));
  EXPECT_THAT(reader.read("convergence/step").values, ElementsAre(0.1, 0.2, 0.4));
  EXPECT_EQ(reader.attribute("units", "convergence/step"), "s");
  EXPECT_EQ(reader.attribute("long_name", "convergence/step"), "step size");
  EXPECT_EQ(reader.read("convergence/error_q").units, "m");
  EXPECT_THAT(reader.read("convergence/error_q").values, ElementsAre(1, 2, 3));
  EXPECT_THAT(reader.read("convergence/error_p").shape, ElementsAre(3, 2));
  EXPECT_THAT(reader.read("convergence/error_p").values, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(reader.read_rows("convergence/error_p", 1, 2).values, ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(reader.read("convergence/midpoint/order_q").shape, ElementsAre());
  EXPECT_THAT(reader.read("convergence/midpoint/order_q").values, ElementsAre(2.01));
  EXPECT_THAT(reader.read("convergence/midpoint/error_q").values, ElementsAre(7, 8, 9));
  EXPECT_EQ(reader.scale("convergence/error_p", 0), "convergence/step");
  EXPECT_EQ(reader.scale("convergence/error_p", 1), "convergence/axis");
  EXPECT_EQ(reader.scale("convergence/midpoint/error_q", 0), "convergence/midpoint/step");
  EXPECT_EQ(reader.scale("convergence/error_p", 2), "");
  EXPECT_FALSE(reader.grows("convergence/error_q"));
  EXPECT_TRUE(reader.is_group("convergence/midpoint"));
  EXPECT_FALSE(reader.is_variable("convergence/midpoint"));
  EXPECT_FALSE(reader.has("convergence/nothing/step"));
  EXPECT_THROW(reader.read("convergence/nothing"), FileError);
  EXPECT_THROW(reader.read("convergence"), FileError);
  EXPECT_THROW(reader.read_rows("convergence/error_q", 2, 2), FileError);
}

TEST(MpiResultFile, RejectsArraysThatContradictTheFile) {
  const SharedFolder folder;
  ResultFile file(folder.file("a.h5"), test_world(), false);
  const Dimension step = steps();
  const std::vector<double> three{1, 2, 3};
  const auto array = [&](const std::string& name, std::vector<Dimension> dimensions, std::span<const double> values) {
    file.array("g", {name, "m", "x", {}}, dimensions, values);
  };
  array("x", {step}, three);
  EXPECT_THROW(array("x", {step}, three), std::logic_error);
  EXPECT_THROW(array("y", {step}, std::span(three).first(2)), std::logic_error);
  EXPECT_THROW(array("y", {{"step", {1, 2}, "s", "step"}}, std::span(three).first(2)), std::logic_error);
  EXPECT_THROW(array("y", {step, step}, std::vector<double>(9)), std::logic_error);
  EXPECT_THROW(array("step", {step}, three), std::logic_error);
  EXPECT_THROW(array("time", {{"time", {1, 2, 3}, "s", "time"}}, three), std::logic_error);
  EXPECT_THROW(file.attribute("a", 1.0, "nowhere"), std::logic_error);
  array("y", {step}, three);
  file.close();
  EXPECT_THROW(file.close(), std::logic_error);
  EXPECT_THROW(file.flush(), std::logic_error);
}

TEST(MpiResultFile, StoresTexts) {
  const SharedFolder folder;
  ResultFile file(folder.file("a.h5"), test_world(), false);
  std::vector<std::string> texts{"", "a", "Størmer-Verlet"};
  if (!test_world().is_root()) texts = {"another number of texts, and longer ones"};
  file.texts("convergence", "label", "method", texts, "label of the method");
  file.texts("convergence/fit", "letters", "method", std::vector<std::string>{"a", "b", "c"}, "letters");
  file.close();
  const ResultReader reader(folder.file("a.h5"));
  EXPECT_THAT(reader.read_texts("convergence/label"), ElementsAre("", "a", "Størmer-Verlet"));
  EXPECT_THAT(reader.read_texts("convergence/fit/letters"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(reader.read("convergence/method").values, ElementsAre(0, 1, 2));
  EXPECT_EQ(reader.scale("convergence/label", 0), "convergence/method");
  EXPECT_THROW(reader.read("convergence/label"), FileError);
  EXPECT_THROW(reader.read_texts("convergence/method"), FileError);
}

TEST(MpiResultFile, IsReadableAfterAFlushAndAfterDestruction) {
  const SharedFolder folder;
  {
    ResultFile file(folder.file("a.h5"), test_world(), false);
    file.attribute("title", std::string("flushed"));
    file.flush();
    EXPECT_EQ(ResultReader(folder.file("a.h5")).attribute("title"), "flushed");
    test_world().barrier();
    file.attribute("title", std::string("let go"));
    ResultFile moved = std::move(file);
    EXPECT_EQ(moved.path(), folder.file("a.h5"));
  }
  EXPECT_EQ(ResultReader(folder.file("a.h5")).attribute("title"), "let go");
}

TEST(MpiResultFile, ReleasesReservedSpaceWhenClosed) {
  const SharedFolder folder;
  ResultFile file(folder.file("a.h5"), test_world(), false);
  file.attribute("title", std::string("small"));
  file.flush();
  file.close();
  test_world().barrier();
  struct stat status {};
  ASSERT_EQ(stat(folder.file("a.h5").c_str(), &status), 0);
  EXPECT_LT(status.st_size, 64 * 1024);
  EXPECT_LT(status.st_blocks * 512, 128 * 1024);
}

TEST(ResultReader, SaysWhyAFileCannotBeRead) {
  const SharedFolder folder;
  write_text(folder.file("text.h5"), "this is not HDF5");
  const auto reason = [](const std::string& path) { return message_of<FileError>([&] { ResultReader reader(path); }); };
  EXPECT_THAT(reason(folder.file("missing.h5")), HasSubstr("No such file or directory"));
  EXPECT_THAT(reason(folder.file("missing.h5")), HasSubstr(folder.file("missing.h5")));
  EXPECT_THAT(reason(folder.file("text.h5")), HasSubstr("not an HDF5 file"));
  EXPECT_THAT(reason(folder.path()), HasSubstr("Is a directory"));
}

TEST(ResultReader, ReportsATruncatedFile) {
  const SharedFolder folder;
  {
    ResultFile file(folder.file("a.h5"), test_world(), false);
    file.array("g", {"x", "m", "x", {}}, std::vector<Dimension>{{"i", std::vector<double>(5000), "1", "i"}},
               std::vector<double>(5000));
    file.close();
  }
  std::filesystem::resize_file(folder.file("a.h5"), 3000);
  EXPECT_THAT(message_of<FileError>([&] { ResultReader reader(folder.file("a.h5")); }), HasSubstr(folder.file("a.h5")));
}

}  // namespace
}  // namespace bathline::result_file_test
