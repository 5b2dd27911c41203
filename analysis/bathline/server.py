"""Processes of the program that stay alive between runs and are asked through pipes (`bathline serve`)."""

import codecs
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

from bathline.exceptions import BathlineError, UsageError
from bathline.toml_values import inline_toml

# Settings with which mpirun starts on any machine, as in cluster/environment.sh; variables of the user take precedence.
_MPI_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
} | ({"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} if os.geteuid() == 0 else {})


class Ended(BathlineError):
    """The process has ended without a reply; `code` is its exit code, the message what it wrote."""


def program() -> str:
    """Find the program: $BATHLINE, `bathline` on PATH, or build/bathline of this source tree, in this order.

    Returns
    -------
    str
        Path of the program.

    Raises
    ------
    UsageError
        If there is none.
    """
    path = os.environ.get("BATHLINE") or shutil.which("bathline")
    built = Path(__file__).resolve().parents[2] / "build" / "bathline"
    if path is None and built.is_file():
        path = str(built)
    if path is None or not os.access(path, os.X_OK):
        raise UsageError(f"the program bathline is neither on PATH nor named by $BATHLINE ({path or 'not set'})", 2)
    return path


class Server:
    """A process that executes commands of the program one after the other.

    It runs in a session of its own, so that Ctrl-C reaches only Python, which asks it to stop. It ends, and a run in
    progress stops with a checkpoint, when Python ends, however that happens, because its standard input ends then.

    Parameters
    ----------
    ranks : int, optional
        Number of processes under mpirun; by default one process without mpirun.
    """

    def __init__(self, ranks: int | None = None):
        launch = ["mpirun", "-n", str(ranks)] if ranks is not None else []
        self._process = subprocess.Popen(
            [*launch, program(), "serve"],
            env=(_MPI_ENVIRONMENT if launch else {}) | os.environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    @property
    def is_alive(self) -> bool:
        """bool : Whether the process can take a command."""
        return self._process.poll() is None

    def execute(self, arguments: list[str], recipe: str | None = None, show: bool = False) -> dict:
        """Execute a command.

        Parameters
        ----------
        arguments : list of str
            Arguments of the command line.
        recipe : str, optional
            Text of the recipe, whose path in the arguments is then only its name.
        show : bool
            Whether standard error, with the progress, is copied to that of Python.

        Returns
        -------
        dict
            The exit code `code`, the `messages`, each with `level` and `message`, and the printed `output`.

        Raises
        ------
        Ended
            If the process ends without a reply.
        """
        request = {"folder": os.getcwd(), "arguments": arguments} | ({} if recipe is None else {"recipe": recipe})
        try:
            self._process.stdin.write(inline_toml(request).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # what it wrote at its end says why
        reply, errors, decoder = b"", "", codecs.getincrementaldecoder("utf-8")("replace")
        with selectors.DefaultSelector() as selector:
            for pipe in (self._process.stdout, self._process.stderr):
                selector.register(pipe, selectors.EVENT_READ)
            while not reply.endswith(b"\n") and selector.get_map():
                for key, _ in selector.select():
                    piece = os.read(key.fd, 65536)
                    if not piece:
                        selector.unregister(key.fileobj)
                    elif key.fileobj is self._process.stdout:
                        reply += piece
                    else:
                        text = decoder.decode(piece)
                        errors += text
                        if show:
                            # The progress bar uses carriage returns, which terminals and notebooks both support.
                            sys.stderr.write(text)
                            sys.stderr.flush()
        if not reply.endswith(b"\n"):
            code = self._process.wait()
            ended = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
            raise Ended(errors.strip() or f"the program {ended}", code)
        return json.loads(reply.splitlines()[-1])

    def stop(self) -> None:
        """Ask the run in progress to stop with a checkpoint."""
        if self.is_alive:
            self._process.send_signal(signal.SIGUSR1)

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()

    def close(self) -> None:
        """End the process after the command in progress."""
        try:
            self._process.stdin.close()
        except BrokenPipeError:
            pass  # it has ended already
        self._process.wait()
        self._process.stdout.close()
        self._process.stderr.close()


class _Pool:
    """Idle processes without mpirun; processes under mpirun would wait actively and are closed after use."""

    def __init__(self):
        self._lock, self._idle, self._key = threading.Lock(), [], None

    def take(self, ranks):
        if ranks is not None:
            return Server(ranks)
        # Processes of another build or environment are not used again.
        path = program()
        key = (path, os.stat(path).st_mtime_ns, dict(os.environ))
        with self._lock:
            if key != self._key:
                self._close_all()
                self._key = key
            while self._idle:
                server = self._idle.pop()
                if server.is_alive:
                    return server
                server.close()
        return Server()

    def give_back(self, server, ranks):
        with self._lock:
            if ranks is None and server.is_alive and len(self._idle) < (os.cpu_count() or 1):
                self._idle.append(server)
                return
        server.close()

    def _close_all(self):
        while self._idle:
            self._idle.pop().close()

    def forget(self):
        """Drop all processes in the child of a fork: their pipes belong to the parent."""
        self._lock, self._idle, self._key = threading.Lock(), [], None


pool = _Pool()
os.register_at_fork(after_in_child=pool.forget)
