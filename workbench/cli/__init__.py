"""The command line. Exit status: 0 converged, 1 not converged, 2 wrong input, 130 interrupted by the user."""

INTERRUPTED = 130
"""The status that shells give for SIGINT."""


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    try:
        # Imported here, since that takes seconds in which a user may change their mind.
        from workbench.cli import program

        return program.run(arguments)
    except KeyboardInterrupt:
        from workbench.cli.streams import log

        log("stopped by the user")
        return INTERRUPTED
