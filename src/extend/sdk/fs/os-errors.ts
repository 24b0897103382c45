// Errors of the operating system in Python's words, which Salt's results contain.
import { pyRepr } from '../../../base/codec/python/repr.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import { pythonError } from '../errors.ts';

const known: Readonly<Record<string, readonly [number, string, string]>> = {
  EPERM: [1, 'PermissionError', 'Operation not permitted'],
  ENOENT: [2, 'FileNotFoundError', 'No such file or directory'],
  EACCES: [13, 'PermissionError', 'Permission denied'],
  EBUSY: [16, 'OSError', 'Device or resource busy'],
  EEXIST: [17, 'FileExistsError', 'File exists'],
  EXDEV: [18, 'OSError', 'Invalid cross-device link'],
  ENOTDIR: [20, 'NotADirectoryError', 'Not a directory'],
  EISDIR: [21, 'IsADirectoryError', 'Is a directory'],
  EINVAL: [22, 'OSError', 'Invalid argument'],
  ENOSPC: [28, 'OSError', 'No space left on device'],
  EROFS: [30, 'OSError', 'Read-only file system'],
  ENAMETOOLONG: [36, 'OSError', 'File name too long'],
  ENOTEMPTY: [39, 'OSError', 'Directory not empty'],
  ELOOP: [40, 'OSError', 'Too many levels of symbolic links'],
};

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '');

/** `No such file or directory`. */
export function osReason(error: unknown): string {
  return known[codeOf(error)]?.[2] ?? (error instanceof Error ? error.message : String(error));
}

/** `[Errno 2] No such file or directory: '/path'`. */
export function osText(error: unknown, ...paths: string[]): string {
  const about = known[codeOf(error)];
  const names = paths.map((path) => pyRepr(path)).join(' -> ');
  return about ? `[Errno ${about[0]}] ${about[2]}${names ? `: ${names}` : ''}` : osReason(error);
}

/** The error that Python would raise for a failed file operation. */
export function osError(error: unknown, ...paths: string[]): Error {
  const made = pythonError(known[codeOf(error)]?.[1] ?? 'OSError', osText(error, ...paths));
  osErrors.add(made);
  return made;
}

const osErrors = new WeakSet<Error>();

/** A failure that a function expects, not a mistake in its code: thrown by `commandError` and the like, or by the system. */
export function isFailure(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return error instanceof HaliteError || osErrors.has(error) || ('syscall' in error && codeOf(error) !== '');
}

/** Runs a file operation; failures are thrown as Python's. */
export async function withOsErrors<T>(path: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw codeOf(error) === '' ? error : osError(error, path);
  }
}
