"""Exit codes of the command line, and how an error becomes one of them."""

import sys
import traceback

from citegraph.errors import BadInput, CitegraphError

ANSWERED = 0
USAGE = 2
NEEDS_CLARIFICATION = 3
NOT_ANSWERED = 4
FAILED = 5
INTERRUPTED = 130

BY_STATUS = {
    "answered": ANSWERED,
    "partial": NOT_ANSWERED,
    "unanswerable": NOT_ANSWERED,
    "needs_clarification": NEEDS_CLARIFICATION,
    "failed": FAILED,
}
"""Exit code by `Answer.status`."""


def report(error: BaseException) -> int:
    """Print an error as one line on stderr (with CITEGRAPH_DEBUG=1 its trace) and return the exit code."""
    if _debugging():
        traceback.print_exception(error)
    print(f"citegraph: {_line(error)}", file=sys.stderr)
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    return USAGE if isinstance(error, BadInput) or _is_validation(error) else FAILED


def _debugging() -> bool:
    """Tell whether the trace is wanted; citegraph.settings that cannot be read want none."""
    from citegraph.settings import load_settings

    try:
        return load_settings().debug
    except ValueError:
        return False


def _line(error: BaseException) -> str:
    """Return what may be said of an error: our own messages are safe, of others the kind and a hint."""
    if isinstance(error, CitegraphError):
        return " ".join(str(error).split())
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if _is_validation(error):
        first = error.errors()[0]  # type: ignore[attr-defined]
        return f"setting {'.'.join(map(str, first['loc']))}: {first['msg']}"
    if isinstance(error, OSError):
        return f"{error.filename or 'file'}: {error.strerror or type(error).__name__}"
    return f"unexpected {type(error).__name__}; CITEGRAPH_DEBUG=1 shows where"


def _is_validation(error: BaseException) -> bool:
    """Tell whether pydantic refused an environment variable."""
    return type(error).__name__ in {"ValidationError", "SettingsError"} and hasattr(error, "errors")
