// Figures of this process: for `/stats`, and for the metrics.
import type { ServerResponse } from 'node:http';
import type { Sample } from '../base/metrics/index.ts';

export class ServerFigures {
  readonly started = Date.now();
  requests = 0;
  errors = 0;
  current = 0;
  bytesRead = 0;
  bytesWritten = 0;
  busyMs = 0;
  /** By route and status. Routes are words of the program: nobody can invent one. */
  readonly #routes = new Map<string, number>();

  /** Counts the answer of a route, `GET /jobs/{jid}`. */
  count(route: string, response: ServerResponse): void {
    response.once('close', () => {
      const name = `${route} ${response.statusCode}`;
      this.#routes.set(name, (this.#routes.get(name) ?? 0) + 1);
    });
  }

  samples(): Sample[] {
    return [...this.#routes].map(([name, value]) => {
      const [method = '', route = '', code = ''] = name.split(' ');
      return { labels: { method, route, code }, value };
    });
  }
}
