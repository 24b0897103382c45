"""Files."""
import contextlib
import errno
import os
import re
import shutil
import stat
import tempfile

from .hashutils import get_hash  # noqa: F401

TEMPFILE_PREFIX = "__salt.tmp."
REMOTE_PROTOS = ("http", "https", "ftp", "swift", "s3")
VALID_PROTOS = ("salt", "file") + REMOTE_PROTOS
HASHES = {"sha512": 128, "sha384": 96, "sha256": 64, "sha224": 56, "sha1": 40, "md5": 32}
HASHES_REVMAP = {length: name for name, length in HASHES.items()}


def fopen(*args, **kwargs):
    """open() with UTF-8 for text and without inheritance by child processes."""
    path = args[0] if args else kwargs.get("file")
    if isinstance(path, int) and path in (0, 1, 2):
        raise TypeError("{} is not a permitted file descriptor".format(path))
    mode = args[1] if len(args) > 1 else kwargs.get("mode", "r")
    if "b" not in mode:
        kwargs.setdefault("encoding", "utf-8")
        if len(args) > 3:
            kwargs.pop("encoding", None)
        kwargs.setdefault("newline", "") if len(args) <= 5 and "w" in mode else None
    return open(*args, **kwargs)


@contextlib.contextmanager
def flopen(*args, **kwargs):
    """The same with an exclusive lock."""
    import fcntl

    with fopen(*args, **kwargs) as handle:
        fcntl.flock(handle.fileno(), fcntl.LOCK_SH)
        try:
            yield handle
        finally:
            fcntl.flock(handle.fileno(), fcntl.LOCK_UN)


@contextlib.contextmanager
def fpopen(*args, **kwargs):
    """The same with owner and mode."""
    uid, gid, mode = kwargs.pop("uid", -1), kwargs.pop("gid", -1), kwargs.pop("mode", None)
    with fopen(*args, **kwargs) as handle:
        path = args[0]
        if uid > -1 or gid > -1:
            os.chown(path, uid, gid)
        if mode is not None:
            os.chmod(path, mode)
        yield handle


def mkstemp(*args, **kwargs):
    """The path of a new temporary file that is closed already."""
    kwargs.setdefault("prefix", TEMPFILE_PREFIX)
    close = kwargs.pop("close_fd", True)
    descriptor, path = tempfile.mkstemp(*args, **kwargs)
    if not close:
        return descriptor, path
    os.close(descriptor)
    return path


def copyfile(source, dest, backup_mode="", cachedir=""):
    """Copies so that a reader sees the old or the new file, with the old one's owner and mode."""
    if not os.path.isfile(source):
        raise OSError("[Errno 2] No such file or directory: {}".format(source))
    folder = os.path.dirname(dest)
    if not os.path.isdir(folder):
        raise OSError("[Errno 2] No such file or directory: {}".format(dest))
    temporary = mkstemp(dir=folder)
    shutil.copyfile(source, temporary)
    if backup_mode == "minion" and os.path.isfile(dest):
        backup_minion(dest, os.path.join(cachedir, "file_backup"))
    if os.path.isfile(dest):
        status = os.stat(dest)
        os.chown(temporary, status.st_uid, status.st_gid)
        os.chmod(temporary, stat.S_IMODE(status.st_mode))
    shutil.move(temporary, dest)


def recursive_copy(source, dest):
    for root, _, names in os.walk(source):
        target = os.path.join(dest, os.path.relpath(root, source))
        os.makedirs(target, exist_ok=True)
        for name in names:
            shutil.copyfile(os.path.join(root, name), os.path.join(target, name))


def rename(source, dest):
    os.replace(source, dest)


def remove(path):
    try:
        os.remove(path)
    except FileNotFoundError:
        pass


def backup_minion(path, folder):
    import time

    os.makedirs(folder, exist_ok=True)
    name = "{}_{}".format(os.path.basename(path), time.strftime("%a_%b_%d_%H:%M:%S_%Y"))
    shutil.copyfile(path, os.path.join(folder, name))


def process_read_exception(exc, path, ignore=None):
    from salt.exceptions import CommandExecutionError

    ignored = [ignore] if isinstance(ignore, int) else (ignore or [])
    if exc.errno in ignored:
        return
    if exc.errno == errno.ENOENT:
        raise CommandExecutionError("{} does not exist".format(path))
    if exc.errno == errno.EACCES:
        raise CommandExecutionError("Permission denied reading from {}".format(path))
    raise CommandExecutionError("Error {} encountered reading from {}: {}".format(exc.errno, path, exc.strerror))


def safe_rm(path):
    with contextlib.suppress(OSError):
        os.remove(path)


def rm_rf(path):
    if os.path.islink(path) or not os.path.isdir(path):
        os.remove(path)
    else:
        shutil.rmtree(path)


def is_empty(path):
    return os.stat(path).st_size == 0


def is_fcntl_available(check_sunos=False):
    return True


def safe_walk(top, topdown=True, onerror=None, followlinks=True, _seen=None):
    """os.walk that does not follow a circle of links."""
    seen = set()
    for root, folders, names in os.walk(top, topdown, onerror, followlinks):
        key = (os.stat(root).st_dev, os.stat(root).st_ino)
        if key in seen:
            folders[:] = []
            continue
        seen.add(key)
        yield root, folders, names


def safe_filepath(path, dir_sep=None):
    return "/".join(re.sub(r'[<>:"|?*]', "_", part) for part in path.split("/"))


safe_filename_leaf = safe_filepath


def is_text(path, blocksize=512):
    with open(path, "rb") as handle:
        block = handle.read(blocksize)
    if b"\0" in block:
        return False
    try:
        block.decode("utf-8")
    except UnicodeDecodeError as exc:
        return exc.start > len(block) - 4
    return True


def is_binary(path):
    if not os.path.isfile(path):
        return False
    return not is_text(path, 2048)


def list_files(folder):
    found = {folder}
    for root, folders, names in safe_walk(folder):
        found.update(os.path.join(root, name) for name in folders + names)
    return list(found)


@contextlib.contextmanager
def set_umask(mask):
    if mask is None:
        yield
        return
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def normalize_mode(mode):
    """A mode as text of at least three digits: `644`."""
    if mode is None:
        return None
    return str(mode).strip("'\"").lstrip("0Oo").zfill(3) if str(mode).strip("0") else "000"


def human_size_to_bytes(text):
    found = re.match(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGTPEZY]?)(?:i?B?)$", str(text), re.IGNORECASE)
    if not found:
        return 0
    return int(float(found.group(1)) * 1024 ** " KMGTPEZY".index(found.group(2).upper() or " "))


def get_encoding(path):
    with open(path, "rb") as handle:
        data = handle.read()
    for encoding in ("ascii", "utf-8"):
        try:
            data.decode(encoding)
            return encoding
        except UnicodeDecodeError:
            continue
    return "latin-1"


@contextlib.contextmanager
def wait_lock(path, lock_fn=None, timeout=5, sleep=0.1, time_start=None):
    import time

    from salt.exceptions import FileLockError

    lock = lock_fn or os.path.join(os.path.dirname(path), ".{}.w".format(os.path.basename(path)))
    end = time.time() + timeout
    while True:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            break
        except FileExistsError:
            if time.time() > end:
                raise FileLockError("Unable to obtain the lock {}".format(lock))
            time.sleep(sleep)
    try:
        yield
    finally:
        os.remove(lock)


def await_lock(*args, **kwargs):
    return wait_lock(*args, **kwargs)


