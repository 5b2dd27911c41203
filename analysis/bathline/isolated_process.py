"""Reading what may end the reader: a damaged file can crash HDF5 or let it search without end, not only complain."""

import multiprocessing
import resource
import signal

# Forked children inherit what is imported, so that one a file costs milliseconds.
_FORK = multiprocessing.get_context("fork")

# Of processor time: claims and attributes are read within a few milliseconds.
CPU_LIMIT_S = 20


class ChildProcessDied(Exception):
    """The child process did not live to answer; the message says how it ended."""


def run_isolated(function, *arguments, endless=False):
    """What function(*arguments) returns, computed in a child process; an exception that ends it there is raised here.

    Raises EndedError where the child ends without either: by a signal, or, unless it may be `endless`, after PATIENCE
    seconds of processor time."""
    answers, answer = _FORK.Pipe(duplex=False)
    with answers:
        child = _FORK.Process(target=_reply, args=(answer, function, arguments, endless))
        child.start()
        answer.close()  # so that the end of the child is the end of the pipe
        try:
            returned, value = answers.recv()
        except EOFError:
            child.join()
            raise ChildProcessDied(f"HDF5 cannot read it and ends with {_end(child.exitcode)}") from None
        child.join()
    if returned:
        return value
    raise value


def _reply(answer, function, arguments, endless):
    # Ctrl-C reaches the parent as well, which says what there is to say.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if not endless:
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT_S, CPU_LIMIT_S + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        answer.send((True, function(*arguments)))
    except Exception as error:
        answer.send((False, error))


def _end(code):
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"
