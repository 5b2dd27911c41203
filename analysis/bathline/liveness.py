"""Whether a program still writes a result, by the lock that it holds on RESULT.h5.lock for as long as it lives.

The lock is the kernel's and ends with the program, however that ends. Asking for it takes none."""

import fcntl
import os
import re
import socket
import struct
from pathlib import Path

_FLOCK = "hhqqi"  # struct flock: type, what its start counts from, start, length, and a process that it has no use for


def is_abandoned(result):
    """Whether the program that wrote a result on this host has ended without a word, as after a kill.

    False where this host cannot know: where the program runs or ran on another one, or could not lock anything."""
    lock = Path(os.path.realpath(result) + ".lock")
    try:
        with lock.open("rb") as file:
            writer = re.match(rb"bathline writes: process \d+ on (\S+) since ", file.read(400))
            return bool(writer) and writer[1].decode() == socket.gethostname() and not _is_locked(file)
    except (OSError, UnicodeDecodeError):
        return False


def _is_locked(file):
    """Whether anyone holds a lock on an open file."""
    question = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    question += bytes(-len(question) % 8)
    answer = fcntl.fcntl(file, fcntl.F_OFD_GETLK, question)
    return struct.unpack_from("h", answer)[0] != fcntl.F_UNLCK
