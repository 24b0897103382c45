// What running out of stack looks like: the last guard behind the depth limits.

export const isStackOverflow = (error: unknown): boolean =>
  error instanceof RangeError && error.message.includes('call stack');
