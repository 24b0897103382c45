// Our own API in front of a real master: requests below its root, and live streams that are read as they come.
import { request as httpRequest } from 'node:http';
import type { ApiFleet, Asked, Reply } from './api.ts';

export const ownRoot = '/halite/v1';

export const own = (api: ApiFleet, method: string, path: string, asked: Asked = {}): Promise<Reply> =>
  api.ask(method, `${ownRoot}${path}`, asked);

/** The rows of a list as maps. */
// biome-ignore lint/suspicious/noExplicitAny: the shape is what the test asserts
export function rowsOf({ json }: Reply): Record<string, any>[] {
  const { cols, rows } = json as { cols: string[]; rows: unknown[][] };
  return rows.map((row) => Object.fromEntries(cols.map((name, at) => [name, row[at]])));
}

// biome-ignore lint/suspicious/noExplicitAny: the shape is what the test asserts
export type LiveMessage = any;

/** A stream of server-sent events below our root. */
export class LiveReader {
  text = '';
  status = 0;
  ended = false;
  readonly #request: ReturnType<typeof httpRequest>;

  constructor(api: ApiFleet, path: string, token: string, headers: Record<string, string> = {}) {
    this.#request = httpRequest(
      {
        ...{ host: '127.0.0.1', port: api.port, path: `${ownRoot}${path}`, agent: false },
        headers: { 'X-Auth-Token': token, Accept: 'text/event-stream', ...headers },
      },
      (response) => {
        this.status = response.statusCode ?? 0;
        response.setEncoding('utf8').on('data', (chunk: string) => {
          this.text += chunk;
        });
        response.on('close', () => {
          this.ended = true;
        });
        response.on('error', () => undefined);
      },
    );
    this.#request.on('error', () => {
      this.ended = true;
    });
    this.#request.end();
  }

  get records(): { readonly id: string; readonly data: LiveMessage }[] {
    return this.text
      .split('\n\n')
      .slice(0, -1)
      .flatMap((block) => {
        const line = (name: string): string => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? '';
        return line('data') === '' ? [] : [{ id: line('id'), data: JSON.parse(line('data')) as LiveMessage }];
      });
  }

  /** Messages of one kind. */
  of(kind: string): LiveMessage[] {
    return this.records.map(({ data }) => data).filter(([name]) => name === kind);
  }

  /** The id under which its topics are set; '' before it has begun. */
  get stream(): string {
    return String(this.of('h')[0]?.[1] ?? '');
  }

  get lastId(): string {
    return [...this.text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? '';
  }

  close(): void {
    this.#request.destroy();
  }
}

export const setTopics = (api: ApiFleet, token: string, stream: string, topics: unknown): Promise<Reply> =>
  own(api, 'POST', `/live/${stream}`, { token, json: { topics } });
