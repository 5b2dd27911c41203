"""How the program ends where a run is not complete, as exceptions."""


class BathlineError(Exception):
    """The program has ended with another exit code than those for a complete run; the text is what it said."""

    def __init__(self, message, code):
        super().__init__(message)
        self.code = code


class UsageError(BathlineError):
    """A recipe, an option or a file that the program refuses (exit code 2): nothing was written."""


class NumericalFailure(BathlineError):
    """A run that could not go on (exit code 3); what was computed until then is in `file`."""

    file = None


class Stopped(BathlineError):
    """A run that was stopped on request (exit code 85) with a checkpoint beside `file`."""

    file = None


STOPPED = 85
FAILURES = {2: UsageError, 3: NumericalFailure, STOPPED: Stopped}
