"""The one exception for wrong input: a sentence that names the value, the bound and the way out."""


class InputError(ValueError):
    """Wrong input. The message is a complete sentence for the user; the command line exits with 2."""


class DeviceError(InputError):
    """A device that answered before does not any more; a run in progress ends with that reason."""
