// A folder for the files of one test, the same on all ranks, removed at the end of the test.
#pragma once

#include <filesystem>
#include <string>

#include "test_world.hpp"

namespace bathline {

/// @note Construction and destruction are collective.
class SharedFolder {
 public:
  SharedFolder() {
    std::string name;
    if (test_world().is_root()) {
      name = (std::filesystem::temp_directory_path() / "bathline-test-XXXXXX").string();
      if (mkdtemp(name.data()) == nullptr) name.clear();
    }
    path_ = test_world().broadcast(name);
  }
  ~SharedFolder() {
    test_world().barrier();
    std::error_code ignored;
    if (test_world().is_root() && !path_.empty()) std::filesystem::remove_all(path_, ignored);
    test_world().barrier();
  }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace bathline
