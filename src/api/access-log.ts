// The requests, one line each, in the combined format of web servers (`log_access_file`). Tokens are not written.
import { createWriteStream, type WriteStream } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { messageOf } from '../base/errors/index.ts';
import type { Logger } from '../base/log/index.ts';

interface Access {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly from: string;
  readonly user: string | undefined;
}

/** A disk that is slower than the requests loses lines, not memory. */
const mostWaitingBytes = 1024 * 1024;
const longestField = 1024;
/** After a full disk, for example. */
const retryMs = 10_000;
const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

export class AccessLog {
  readonly #path: string;
  readonly #log: Pick<Logger, 'limited'>;
  #file: WriteStream;
  #opened = Date.now();

  constructor(path: string, log: Pick<Logger, 'limited'>) {
    this.#path = path;
    this.#log = log;
    this.#file = this.#open();
  }

  #open(): WriteStream {
    this.#opened = Date.now();
    const file = createWriteStream(this.#path, { flags: 'a', mode: 0o640 });
    file.on('error', (error) => {
      const fields = { path: this.#path, error: messageOf(error) };
      this.#log.limited('access-log', 'error', 'log_access_file cannot be written', fields);
    });
    return file;
  }

  /** The file was moved away. */
  reopen(): void {
    this.#file.end();
    this.#file = this.#open();
  }

  note({ request, response, from, user }: Access): void {
    if (this.#file.destroyed && Date.now() - this.#opened > retryMs) this.#file = this.#open();
    if (this.#file.writableLength > mostWaitingBytes || this.#file.destroyed) return;
    const { method = '', httpVersion, headers } = request;
    const size = Number(response.getHeader('Content-Length') ?? 0);
    const line = `${method} ${withoutToken(request.url ?? '')} HTTP/${httpVersion}`;
    const quoted = [line, headers.referer ?? '-', headers['user-agent'] ?? '-'].map((text) => `"${printable(text)}"`);
    const who = printable(user ?? '-').replaceAll(' ', '_');
    const [request_, ...rest] = quoted;
    this.#file.write(
      `${from || '-'} - ${who} [${stamp(new Date())}] ${request_} ${response.statusCode} ${size} ${rest.join(' ')}\n`,
    );
  }

  close(): void {
    this.#file.end();
  }
}

/** Older clients send their token in the address. */
export const withoutToken = (url: string): string =>
  url.replace(/(\/(?:ws|all_events|formatted_events)\/)[^?]*/, '$1…').replace(/([?&](?:salt_)?token=)[^&]*/gi, '$1…');

/** Nobody forges a line or sends commands to a terminal. */
const printable = (text: string): string =>
  text
    .slice(0, longestField)
    .replace(/[^\x20-\x7e…]/g, '?')
    .replace(/["\\]/g, '\\$&');

function stamp(at: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const clock = [at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()].map(two).join(':');
  return `${two(at.getUTCDate())}/${months[at.getUTCMonth()]}/${at.getUTCFullYear()}:${clock} +0000`;
}
