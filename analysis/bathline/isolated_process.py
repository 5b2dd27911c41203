"""Reading of files in a child process: a damaged file can crash HDF5 or send it into an endless search."""

import multiprocessing
import resource
import signal

# Forked children inherit all imported modules, so that a child costs milliseconds.
_FORK = multiprocessing.get_context("fork")

# Limit of processor time; claims and attributes are read within a few milliseconds.
CPU_LIMIT_S = 20


class ChildProcessDied(Exception):
    """The child process ended without a result; the message names its signal or exit code."""


def run_isolated(function, *arguments, unlimited=False):
    """Call a function in a child process.

    Parameters
    ----------
    function : callable
        The function; its result must be picklable.
    *arguments
        Its arguments.
    unlimited : bool
        Whether the processor time is unlimited; otherwise the limit is `CPU_LIMIT_S` seconds.

    Returns
    -------
    object
        The result of `function(*arguments)`.

    Raises
    ------
    ChildProcessDied
        If the child is ended by a signal, also when it exceeds the limit, or exits early.
    Exception
        Any exception of the function itself.
    """
    receiver, sender = _FORK.Pipe(duplex=False)
    with receiver:
        child = _FORK.Process(target=_send_result, args=(sender, function, arguments, unlimited))
        child.start()
        sender.close()  # so that the pipe closes when the child ends
        try:
            returned, value = receiver.recv()
        except EOFError:
            child.join()
            raise ChildProcessDied(f"HDF5 cannot read it and ends with {_describe_exit(child.exitcode)}") from None
        child.join()
    if returned:
        return value
    raise value


def _send_result(sender, function, arguments, unlimited):
    # Ctrl-C reaches the parent as well, which reports it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if not unlimited:
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT_S, CPU_LIMIT_S + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        sender.send((True, function(*arguments)))
    except Exception as error:
        sender.send((False, error))


def _describe_exit(code):
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"
