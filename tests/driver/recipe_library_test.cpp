// Names and titles of the recipes below a folder.
#include "driver/recipe_library.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "record/shared_folder.hpp"

namespace bathline::recipe_library_test {
namespace {

TEST(RecipeLibrary, ListsTheRecipesOfAFolderByName) {
  const SharedFolder folder;
  std::filesystem::create_directories(folder.file("b2020"));
  std::filesystem::create_directories(folder.file("a2010"));
  std::ofstream(folder.file("b2020/fig2.toml")) << "# A remark.\ntitle = \"Second \"\n[system]\ntitle = \"no\"\n";
  std::ofstream(folder.file("b2020/fig1.toml")) << "title=\"First\"\n";
  std::ofstream(folder.file("a2010/only.toml")) << "[system]\n";
  std::ofstream(folder.file("a2010/notes.txt")) << "title = \"no recipe\"\n";
  setenv("BATHLINE_EXPERIMENTS", folder.path().c_str(), 1);
  const std::vector<LibraryRecipe> recipes = library_recipes();
  setenv("BATHLINE_EXPERIMENTS", folder.file("nowhere").c_str(), 1);
  const std::vector<LibraryRecipe> none = library_recipes();
  unsetenv("BATHLINE_EXPERIMENTS");
  ASSERT_EQ(recipes.size(), 3u);
  EXPECT_EQ(recipes[0].name, "a2010/only");
  EXPECT_EQ(recipes[0].title, "");
  EXPECT_EQ(recipes[1].name, "b2020/fig1");
  EXPECT_EQ(recipes[1].title, "First");
  EXPECT_EQ(recipes[2].title, "Second ");
  EXPECT_EQ(recipes[2].path, folder.file("b2020/fig2.toml"));
  EXPECT_THAT(none, testing::IsEmpty());
}

}  // namespace
}  // namespace bathline::recipe_library_test
