"""Whether a program is still writing a result, by the lock that it holds on RESULT.h5.lock.

The kernel releases the lock when the program ends, however it ends. The query itself takes no lock.
"""

import fcntl
import os
import re
import socket
import struct
from pathlib import Path

_FLOCK = "hhqqi"  # struct flock: type, origin of the start, start, length, process (unused)


def is_abandoned(result):
    """Whether the program that wrote a result on this host has ended without closing it, as after SIGKILL.

    Parameters
    ----------
    result : path-like
        A result file.

    Returns
    -------
    bool
        False also where this host cannot know: if the program runs on another host or could not lock the file.
    """
    lock = Path(os.path.realpath(result) + ".lock")
    try:
        with lock.open("rb") as file:
            writer = re.match(rb"bathline writes: process \d+ on (\S+) since ", file.read(400))
            return bool(writer) and writer[1].decode() == socket.gethostname() and not _is_locked(file)
    except (OSError, UnicodeDecodeError):
        return False


def _is_locked(file):
    """Whether any process holds a lock on an open file."""
    query = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    query += bytes(-len(query) % 8)
    reply = fcntl.fcntl(file, fcntl.F_OFD_GETLK, query)
    return struct.unpack_from("h", reply)[0] != fcntl.F_UNLCK
