// Numbers too small for full precision.
#pragma once

namespace bathline {

/// From now on numbers below 2.2e-308 are zero, read and written, on this thread and those that it starts. Many
/// processors take up to a hundred times longer for them than for others, a line that starts at rest has many of them
/// ahead of its front, and a damped run decays into them. The rule is one of every single operation: results stay the
/// same on any ranks, in any blocks and with any instruction set. Programs call this before anything else. On
/// processors other than x86 it does nothing.
void flush_subnormals();

}  // namespace bathline
