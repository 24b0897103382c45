// Rights that files of this process never give, whatever the umask was.

/** Adds these bits to the umask. */
export function forbid(bits: number): void {
  process.umask(process.umask(0o077) | bits);
}
