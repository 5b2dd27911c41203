// What a line is made of.
#pragma once

namespace bathline {

enum class FarEnd { fixed, free, matched };

/// What one site is made of.
struct LineSite {
  double mass = 1.0;
  double stiffness = 1.0;  ///< of the spring before it; behind the last site a fixed end has one like the last

  bool operator==(const LineSite&) const = default;
};

/// The numbers that define a line of equal sites; where they differ, mass and stiffness are those at the far end.
struct LineConstants {
  double mass = 1.0;
  double stiffness = 1.0;
  FarEnd far_end = FarEnd::fixed;
  double dashpot = 0.0;  ///< on the last site; zero unless the far end is matched
};

}  // namespace bathline
