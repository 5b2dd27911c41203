"""Exceptions for the exit codes of the program and for files that cannot be read."""

from functools import wraps


class BathlineError(Exception):
    """The base of all errors of this package.

    Parameters
    ----------
    message : str
        What is wrong; of a run the error messages of the program.
    code : int, optional
        Exit code of the program, if it has ended with one.

    Attributes
    ----------
    code : int or None
        Exit code of the program.
    """

    def __init__(self, message: str, code: int | None = None):
        super().__init__(message)
        self.code = code


class AnalysisError(BathlineError):
    """A file, a quantity or a figure is not what was requested; the message says how to correct it."""


class UnreadableError(AnalysisError):
    """A file, or a part of it, exists but cannot be read."""


class UsageError(BathlineError):
    """The program refused a recipe, an option or a file (exit code 2); no result was written."""


class NumericalFailure(BathlineError):
    """A run failed numerically (exit code 3).

    Attributes
    ----------
    file : pathlib.Path or None
        Result file with everything computed before the failure.
    """

    file = None


class Stopped(BathlineError):
    """A run was stopped on request (exit code 85); its checkpoint lies beside the result.

    Attributes
    ----------
    file : pathlib.Path or None
        Result file of the stopped run.
    """

    file = None


STOPPED = 85
FAILURES = {2: UsageError, 3: NumericalFailure, STOPPED: Stopped}


def report_read_errors(method):
    """Decorator that raises UnreadableError for any exception of a method, since damaged files cause all kinds.

    Parameters
    ----------
    method : callable
        A method of an object with an attribute `path`.

    Returns
    -------
    callable
        The method; an AnalysisError passes unchanged.
    """

    @wraps(method)
    def read(self, *arguments, **options):
        try:
            return method(self, *arguments, **options)
        except AnalysisError:
            raise
        except Exception as error:
            # The cause says what is wrong: h5py may wrap it in a SystemError.
            reason = error.__cause__ or error
            text = " ".join(str(reason).split()) or type(reason).__name__
            raise UnreadableError(f"{self.path}: cannot be read: {text}") from error

    return read
