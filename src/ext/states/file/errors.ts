// Error texts for results.
import { messageOf } from 'halite/sdk';
import { osText } from 'halite/sdk/fs';

/** The text of an error; errors of the operating system have Python's text. */
export function failureText(error: unknown): string {
  const { code, path, dest } = error as { code?: unknown; path?: unknown; dest?: unknown };
  if (typeof code !== 'string' || typeof path !== 'string') return messageOf(error);
  return typeof dest === 'string' ? osText(error, path, dest) : osText(error, path);
}
