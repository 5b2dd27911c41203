// A file that rank 0 reads for all.
#include "parallel/text_file.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "record/shared_folder.hpp"
#include "test_world.hpp"

namespace bathline::text_file_test {
namespace {

TEST(MpiTextFile, IsReadForEveryRank) {
  const SharedFolder folder;
  const std::string path = folder.file("table.txt"), empty = folder.file("empty.txt");
  if (test_world().is_root()) {
    std::ofstream(path) << "1 2\n3 4\n";
    std::ofstream file(empty);
  }
  test_world().barrier();
  EXPECT_EQ(read_text_file_on_root(path, test_world()), "1 2\n3 4\n");
  EXPECT_EQ(read_text_file_on_root(empty, test_world()), "");
  EXPECT_EQ(read_text_file_on_root(folder.file("nothing.txt"), test_world()), std::nullopt);
  EXPECT_EQ(read_text_file_on_root(std::filesystem::path(path).parent_path(), test_world()), std::nullopt);
}

}  // namespace
}  // namespace bathline::text_file_test
