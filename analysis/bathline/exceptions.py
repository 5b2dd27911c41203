"""Exceptions for the exit codes of the program."""


class BathlineError(Exception):
    """The program ended with an exit code that does not stand for a complete run.

    Parameters
    ----------
    message : str
        Error messages of the program.
    code : int
        Exit code of the program.

    Attributes
    ----------
    code : int
        Exit code of the program.
    """

    def __init__(self, message, code):
        super().__init__(message)
        self.code = code


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
