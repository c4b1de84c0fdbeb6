"""Errors as sentences. Wrong input has one exception, whose sentence names the value, the bound and the way out."""


class InputError(ValueError):
    """Wrong input. The message is a complete sentence for the user; the command line exits with 2."""


class DeviceError(InputError):
    """A device that answered before does not any more; a run in progress ends with that reason."""


MOST_QUOTED = 60


def quoted(value: object) -> str:
    """A value as a sentence quotes it: of a text the first 60 characters."""
    if isinstance(value, str):
        return repr(value if len(value) <= MOST_QUOTED else f"{value[: MOST_QUOTED - 1]}…")
    text = repr(value)
    return text if len(text) <= MOST_QUOTED else f"{text[: MOST_QUOTED - 1]}…"


LONGEST_PATH = 200


def shown(path: object) -> str:
    """A path as a sentence shows it: as it stands, or quoted and cut where it is long or holds what cannot be shown."""
    text = str(path)
    return text if len(text) <= LONGEST_PATH and text.isprintable() else quoted(text)


def sentence_of(error: BaseException, what: str = "the run") -> str:
    """What a view says of an exception, also of one that nobody foresaw. what: that failed by it."""
    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, MemoryError):
        return f"there is not enough memory{_about(error)}; take a smaller problem, or close other programs"
    return f"{what} failed by a {type(error).__name__}{_about(error)}"


def _about(error: BaseException) -> str:
    return f": {error}" if str(error) else ""
