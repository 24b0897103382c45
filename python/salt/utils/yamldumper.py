"""The old name of `salt.utils.yaml`, for dumping."""
from .yaml import OrderedDumper, SafeOrderedDumper, IndentedSafeOrderedDumper, dump, get_dumper, safe_dump  # noqa: F401
