// Recognizes a stack overflow: the last protection after the depth limits.

export const isStackOverflow = (error: unknown): boolean =>
  error instanceof RangeError && error.message.includes('call stack');
