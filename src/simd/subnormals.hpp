// Flushing of subnormal numbers to zero.
#pragma once

namespace bathline {

/// From now on subnormal numbers (below 2.2e-308) are zero, as operands and as results, on this thread and those that
/// it starts. Many processors take up to a hundred times longer for them than for others, a line that starts at rest
/// has many of them ahead of its front, and a damped run decays into them. The rule applies to every single operation,
/// so results stay the same on any number of ranks, in any blocks and with any instruction set. Programs call this
/// before anything else. Has no effect on processors other than x86.
void flush_subnormals();

}  // namespace bathline
