"""The old name of `salt.utils.yaml`, for loading."""
from .yaml import ConstructorError, SaltYamlSafeLoader, YAMLError, load, safe_load  # noqa: F401
