// Environments that numbers stand for, and what is known of how well they do.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace bathline {

struct Certificate {
  struct Entry {
    std::string name, units, long_name;
    double value;
  };
  /// What the environment is made of, part by part.
  struct Parts {
    std::string name, units, long_name;
    std::vector<double> values;
  };
  std::string sentence;  ///< all of it, for the log
  std::vector<Entry> entries;
  std::string part = "site";  ///< what one of its parts is called
  std::vector<Parts> parts = {};
};

/// What such environments are besides.
class Certified {
 public:
  virtual ~Certified() = default;
  /// Of the march that was made last; nothing before. The same on every rank.
  virtual std::optional<Certificate> certificate() const = 0;
};

}  // namespace bathline
