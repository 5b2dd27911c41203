"""Exceptions for the exit codes of the program."""


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
