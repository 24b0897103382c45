"""Files."""
import contextlib
import errno
import os
import re
import shutil
import stat
import tempfile
import time
from urllib.parse import quote

from .hashutils import get_hash  # noqa: F401

TEMPFILE_PREFIX = "__salt.tmp."
LOCAL_PROTOS = ("", "file")
REMOTE_PROTOS = ("http", "https", "ftp", "swift", "s3")
VALID_PROTOS = ("salt", "file") + REMOTE_PROTOS
HASHES = {"sha512": 128, "sha384": 96, "sha256": 64, "sha224": 56, "sha1": 40, "md5": 32}
HASHES_REVMAP = {length: name for name, length in HASHES.items()}
# Marks at the start of a file that say how it is encoded.
_BOMS = (
    ("UTF-32-BE", b"\0\0\xfe\xff"), ("UTF-32-LE", b"\xff\xfe\0\0"), ("UTF-16-BE", b"\xfe\xff"), ("UTF-16-LE", b"\xff\xfe"),
    ("UTF-8", b"\xef\xbb\xbf"), ("UTF-7", b"+/v8"), ("UTF-7", b"+/v9"), ("UTF-7", b"+/v+"), ("UTF-7", b"+/v/"),
)


def fopen(*args, **kwargs):
    """open() with UTF-8 for text, line ends as they are in the file, and without inheritance by child processes."""
    if args and args[0] in (0, 1, 2):
        raise TypeError("{} is not a permitted file descriptor".format(args[0]))
    args = list(args)
    mode = args.pop(1) if len(args) > 1 else kwargs.pop("mode", None) or "r"
    if kwargs.pop("binary", None) and "b" not in mode:
        mode = mode.replace("t", "") + "b"
    if "b" not in mode:
        if len(args) < 3:
            kwargs.setdefault("encoding", "utf-8")
        if len(args) < 5:
            kwargs["newline"] = kwargs.get("newline") or ""
    elif kwargs.get("buffering") == 1:
        del kwargs["buffering"]
    return open(args[0], mode, *args[1:], **kwargs)


@contextlib.contextmanager
def flopen(*args, **kwargs):
    """The same with a lock: shared for readers."""
    import fcntl

    writes = len(args) > 1 and any(sign in args[1] for sign in "wa")
    with fopen(*args, **kwargs) as handle:
        fcntl.flock(handle.fileno(), fcntl.LOCK_EX if writes else fcntl.LOCK_SH)
        try:
            yield handle
        finally:
            fcntl.flock(handle.fileno(), fcntl.LOCK_UN)


@contextlib.contextmanager
def fpopen(*args, **kwargs):
    """The same with owner and mode."""
    uid, gid, mode = kwargs.pop("uid", -1), kwargs.pop("gid", -1), kwargs.pop("mode", None)
    with fopen(*args, **kwargs) as handle:
        if uid != -1 or gid != -1:
            os.chown(args[0], uid, gid)
        if mode is not None and stat.S_IMODE(os.stat(args[0]).st_mode) != mode:
            os.chmod(args[0], mode)
        yield handle


def mkstemp(*args, **kwargs):
    """The path of a new temporary file that is closed already."""
    kwargs.setdefault("prefix", TEMPFILE_PREFIX)
    close = kwargs.pop("close_fd", True)
    descriptor, path = tempfile.mkstemp(*args, **kwargs)
    if close is False:
        return descriptor, path
    os.close(descriptor)
    return path


def copyfile(source, dest, backup_mode="", cachedir=""):
    """Copies so that a reader sees the old or the new file, with the old one's owner and mode."""
    folder = os.path.dirname(dest)
    for there, path in ((os.path.isfile(source), source), (os.path.isdir(folder), dest)):
        if not there:
            raise OSError("[Errno 2] No such file or directory: {}".format(path))
    temporary = mkstemp(prefix=os.path.basename(dest), dir=os.path.abspath(folder))
    try:
        shutil.copyfile(source, temporary)
        kept = os.path.join(cachedir, "file_backup") if cachedir else ""
        if os.path.exists(dest):
            if backup_mode == "minion" or backup_mode == "both" and kept:
                backup_minion(dest, kept)
            status = os.stat(dest)
            os.chown(temporary, status.st_uid, status.st_gid)
            os.chmod(temporary, stat.S_IMODE(status.st_mode))
        shutil.move(temporary, dest)
    except Exception:
        safe_rm(temporary)
        raise


def recursive_copy(source, dest):
    for root, _, names in os.walk(source):
        target = os.path.join(dest, os.path.relpath(root, source))
        os.makedirs(target, exist_ok=True)
        for name in names:
            shutil.copyfile(os.path.join(root, name), os.path.join(target, name))


def rename(src, dst):
    os.rename(src, dst)


def remove(path):
    try:
        os.remove(path)
    except FileNotFoundError:
        pass


def backup_minion(path, bkroot):
    """A copy below another folder, with the time in its name."""
    now = time.strftime("%a_%b_%d_%H:%M:%S_%Y")
    moment = "{}{}_{}".format(now[:-4], str(int(time.time() * 1000000))[-6:], now[-4:])
    copy = os.path.join(bkroot, os.path.dirname(path)[1:], "{}_{}".format(os.path.basename(path), moment))
    os.makedirs(os.path.dirname(copy), exist_ok=True)
    shutil.copyfile(path, copy)
    status = os.stat(path)
    os.chown(copy, status.st_uid, status.st_gid)
    os.chmod(copy, stat.S_IMODE(status.st_mode))


def process_read_exception(exc, path, ignore=None):
    from salt.exceptions import CommandExecutionError

    if exc.errno in ([ignore] if isinstance(ignore, int) else ignore or ()):
        return
    if exc.errno == errno.ENOENT:
        raise CommandExecutionError("{} does not exist".format(path))
    if exc.errno == errno.EACCES:
        raise CommandExecutionError("Permission denied reading from {}".format(path))
    raise CommandExecutionError("Error {} encountered reading from {}: {}".format(exc.errno, path, exc.strerror))


def safe_rm(tgt):
    with contextlib.suppress(OSError):
        os.remove(tgt)


def rm_rf(path):
    if os.path.islink(path) or not os.path.isdir(path):
        os.remove(path)
    else:
        shutil.rmtree(path)


def is_empty(filename):
    try:
        return os.stat(filename).st_size == 0
    except OSError:
        return False


def is_fcntl_available(check_sunos=False):
    return True


def safe_walk(top, topdown=True, onerror=None, followlinks=True, _seen=None):
    """os.walk that does not follow a circle of links."""
    seen = set() if _seen is None else _seen
    try:
        names = os.listdir(top)
    except OSError as exc:
        if onerror is not None:
            onerror(exc)
        return
    if followlinks:
        status = os.stat(top)
        if (status.st_dev, status.st_ino) in seen:
            return
        seen.add((status.st_dev, status.st_ino))
    folders = [name for name in names if os.path.isdir(os.path.join(top, name))]
    found = (top, folders, [name for name in names if name not in set(folders)])
    if topdown:
        yield found
    for name in folders:
        path = os.path.join(top, name)
        if followlinks or not os.path.islink(path):
            yield from safe_walk(path, topdown, onerror, followlinks, seen)
    if not topdown:
        yield found


def safe_filename_leaf(file_basename):
    """Signs that some systems refuse in names, as in an address."""
    return re.sub(r'[\\:/*?"<>|]', lambda found: quote(found.group(0), safe=""), file_basename)


def safe_filepath(file_path_name, dir_sep=None):
    sep = dir_sep or os.sep
    return sep.join(safe_filename_leaf(part) for part in file_path_name.split(sep))


_TEXT = bytes(range(32, 127)) + b"\n\r\t\f\b"


def is_text(fp_, blocksize=512):
    """Whether the first block is UTF-8 without zeros, or at most three tenths of it are unusual."""
    try:
        if hasattr(fp_, "read"):
            block = fp_.read(blocksize)
        else:
            with open(fp_, "rb") as handle:
                block = handle.read(blocksize)
    except OSError:
        return False
    if b"\0" in block:
        return False
    try:
        block.decode("utf-8")
        return True
    except UnicodeDecodeError:
        return len(block.translate(None, _TEXT)) / len(block) <= 0.3


def is_binary(path):
    from .stringutils import is_binary as is_binary_text

    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as handle:
            return is_binary_text(handle.read(2048).decode("utf-8"))
    except UnicodeDecodeError:
        return True
    except OSError:
        return False


def list_files(directory):
    found = {directory}
    for root, folders, names in safe_walk(directory):
        found.update(os.path.join(root, name) for name in folders + names)
    return list(found)


def get_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


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


def st_mode_to_octal(mode):
    return oct(mode)[-4:] if isinstance(mode, int) else ""


def normalize_mode(mode):
    """A mode as text of at least four digits: `0644`; a word stays."""
    if mode is None:
        return None
    return str(mode).replace("0o", "0").strip('"').strip("'").lstrip("0").zfill(4)


def human_size_to_bytes(human_size):
    found = re.match(r"^(\d+)([KMGTP])?$", str(human_size))
    if not found:
        raise ValueError("Size must be all digits, with an optional unit type (K, M, G, T, or P)")
    return int(found.group(1)) * 1024 ** " KMGTP".index(found.group(2) or " ")


def guess_archive_type(name):
    tar = ("tar", "tar.gz", "tgz", "tar.bz2", "tbz2", "tbz", "tar.xz", "txz", "tar.lzma", "tlz")
    kinds = [("tar", tar), ("zip", ("zip",)), ("rar", ("rar",))]
    return next((kind for kind, ends in kinds if name.lower().endswith(tuple("." + end for end in ends))), None)


def case_insensitive_filesystem(path=None):
    with tempfile.NamedTemporaryFile(prefix="TmP", dir=path) as handle:
        return os.path.exists(handle.name.lower())


def get_encoding(path):
    from salt.exceptions import CommandExecutionError

    if not os.path.isfile(path):
        raise CommandExecutionError("Not a file")
    try:
        with open(path, "rb") as handle:
            data = handle.read(2048)
    except OSError:
        raise CommandExecutionError("Failed to open file")
    marked = next((name for name, mark in _BOMS if data.startswith(mark)), None)
    if marked:
        return marked
    try:
        data.decode("utf-8")
        return "UTF-8"
    except UnicodeDecodeError:
        raise CommandExecutionError("Could not detect file encoding")


@contextlib.contextmanager
def wait_lock(path, lock_fn=None, timeout=5, sleep=0.1, time_start=None):
    """Holds a lock file: waits while somebody else does."""
    from salt.exceptions import FileLockError

    if not isinstance(path, str):
        raise FileLockError("path must be a string")
    lock = lock_fn or path + ".w"
    start = time.time() if time_start is None else time_start
    if os.path.exists(lock) and not os.path.isfile(lock):
        raise FileLockError("lock_fn {} exists and is not a file".format(lock), time_start=start)
    while True:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            break
        except FileExistsError:
            if time.time() - start >= timeout:
                text = "Timeout of {} seconds exceeded waiting for lock_fn {} to be released".format(timeout, lock)
                raise FileLockError(text, time_start=start)
            time.sleep(sleep)
        except OSError as exc:
            text = "Error {} encountered obtaining file lock {}: {}".format(exc.errno, lock, exc.strerror)
            raise FileLockError(text, time_start=start)
    try:
        yield
    finally:
        os.remove(lock)


def await_lock(*args, **kwargs):
    return wait_lock(*args, **kwargs)
