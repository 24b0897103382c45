// Permissions that files of this process never have, independent of the umask.

/** Adds these bits to the umask. */
export function forbid(bits: number): void {
  process.umask(process.umask(0o077) | bits);
}
