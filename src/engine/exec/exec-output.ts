// Collects the output of a command: bounded, decoded once at the end, streamed meanwhile to a listener.
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

export interface Collector {
  text(encoding?: string): string;
}

/** Reads a stream to its end; past `limit` bytes it is read and dropped, so that the command does not block. */
export function collect(stream: Readable | null, limit: number, onText?: (text: string) => void): Collector {
  const pieces: Buffer[] = [];
  let size = 0;
  let dropped = 0;
  const decoder = onText ? new StringDecoder('utf8') : undefined;
  stream?.on('data', (piece: Buffer) => {
    const room = limit - size;
    const kept = piece.length > room ? piece.subarray(0, room) : piece;
    if (kept.length > 0) pieces.push(kept);
    size += kept.length;
    dropped += piece.length - kept.length;
    if (onText && decoder) {
      const text = decoder.write(piece);
      if (text) onText(text);
    }
  });
  // A broken pipe looks like the end of output; the exit status gives the outcome.
  stream?.on('error', () => undefined);
  return {
    text(encoding) {
      const all = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
      const note = dropped > 0 ? `\n[${dropped} more bytes of output were left out]` : '';
      return (encoding === undefined ? all.toString('utf8') : new TextDecoder(encoding).decode(all)) + note;
    },
  };
}
