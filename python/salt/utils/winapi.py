"""The surroundings of calls of COM, which only Windows has."""


class Com:
    def __enter__(self):
        from salt.exceptions import CommandExecutionError

        raise CommandExecutionError("COM exists on Windows only")

    def __exit__(self, *ignored):
        return None
