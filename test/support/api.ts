// salt-api before a real master with users, and requests to it.
import { chmodSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type Deployment, halite, startProgram } from './deployment.ts';
import { eventually } from './eventually.ts';
import { freePorts } from './ports.ts';
import { startUsers } from './users.ts';

export interface Reply {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  // Tests look at any part of an answer.
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what the test asserts
  readonly json: any;
}

export interface Asked {
  readonly token?: string;
  /** Sent as JSON. */
  readonly json?: unknown;
  readonly text?: string;
  readonly headers?: Record<string, string>;
}

export interface SecondApi {
  readonly api: ApiFleet;
  readonly pid: number;
  stop(): Promise<void>;
}

const clients = 'local, local_async, local_batch, local_subset, runner, runner_async, wheel, wheel_async';

const apiConfig = (fleet: Deployment, name: string, port: number, options: readonly string[]): string =>
  [
    'api_user: nobody',
    `api_pidfile: ${fleet.path(`run/${name}.pid`)}`,
    `api_logfile: ${fleet.path(`log/${name}`)}`,
    `netapi_enable_clients: [${clients}]`,
    'rest_cherrypy:',
    '  host: 127.0.0.1',
    `  port: ${port}`,
    ...options.map((line) => `  ${line.replaceAll('@ROOT@', fleet.root)}`),
    '',
  ].join('\n');

export class ApiFleet {
  readonly fleet: Deployment;
  readonly port: number;

  private constructor(fleet: Deployment, port: number) {
    this.fleet = fleet;
    this.port = port;
  }

  /** The API runs as nobody: it needs nothing but the socket. */
  static async start(
    options: string[] = [],
    configure: (fleet: Deployment) => void = () => undefined,
  ): Promise<ApiFleet> {
    const [port] = await freePorts(1);
    const fleet = await startUsers((each) => {
      chmodSync(each.root, 0o755);
      mkdirSync(each.path('www/static'), { recursive: true });
      writeFileSync(each.path('www/index.html'), '<p>the app\n');
      writeFileSync(each.path('www/static/app.js'), '0123456789');
      writeFileSync(
        each.path('etc/master.d/api.conf'),
        apiConfig(each, 'api', port!, ['disable_ssl: True', ...options]),
      );
      configure(each);
    });
    await fleet.startApi();
    return new ApiFleet(fleet, port!);
  }

  /** Another API in front of the same master, with options of its own; it ends with the fleet. */
  async second(options: string[], more: string[] = []): Promise<SecondApi> {
    const [port] = await freePorts(1);
    const { fleet } = this;
    const name = `api-${port}`;
    const folder = fleet.path(name);
    mkdirSync(join(folder, 'master.d'), { recursive: true });
    cpSync(fleet.path('etc/master'), join(folder, 'master'));
    cpSync(fleet.path('etc/master.d/eauth.conf'), join(folder, 'master.d/eauth.conf'));
    const own = apiConfig(fleet, name, port!, options);
    const clientsAgain = more.some((line) => line.startsWith('netapi_enable_clients:'));
    const lines = own.split('\n').filter((line) => !clientsAgain || !line.startsWith('netapi_enable_clients:'));
    writeFileSync(join(folder, 'master.d/api.conf'), [...lines, ...more, ''].join('\n'));
    const process = startProgram(join(halite.bin, 'salt-api'), ['-c', folder, '-l', 'info'], { timeoutMs: 600_000 });
    const listens = () =>
      new Promise<boolean>((done) => {
        const socket = connect(port!, '127.0.0.1', () => done(socket.destroy().destroyed));
        socket.on('error', () => done(false));
      });
    let ended: string | undefined;
    void process.done.then(({ stderr }) => {
      ended = stderr;
    });
    // A test that fails does not stop it.
    globalThis.process.once('exit', () => ended === undefined && globalThis.process.kill(process.pid, 'SIGKILL'));
    await eventually('the other API to listen', listens, {
      abort: () => ended !== undefined,
      describe: () => ended ?? '',
    });
    const stop = async (): Promise<void> => {
      if (ended === undefined) globalThis.process.kill(process.pid, 'SIGTERM');
      await process.done;
    };
    return { api: new ApiFleet(fleet, port!), pid: process.pid, stop };
  }

  ask(method: string, path: string, { token, json, text, headers = {} }: Asked = {}): Promise<Reply> {
    const body = text ?? (json === undefined ? undefined : JSON.stringify(json));
    const sent: Record<string, string> = {
      ...(token === undefined ? {} : { 'X-Auth-Token': token }),
      ...(json === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }),
      ...headers,
    };
    return new Promise((resolve, reject) => {
      const request = httpRequest(
        { host: '127.0.0.1', port: this.port, method, path, headers: sent, agent: false, timeout: 90_000 },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const whole = Buffer.concat(chunks).toString('latin1');
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text: whole,
              json: parsed(Buffer.concat(chunks).toString()),
            });
          });
        },
      );
      request.on('timeout', () => request.destroy(new Error('no answer in 90 seconds')));
      request.on('error', reject);
      request.end(body);
    });
  }

  /** The token of a user of the shared secret. */
  async login(username: string): Promise<string> {
    const reply = await this.ask('POST', '/login', {
      json: { username, password: 'of all', eauth: 'sharedsecret' },
    });
    if (reply.status !== 200) throw new Error(`the login of ${username} answered ${reply.status}: ${reply.text}`);
    return reply.json.return[0].token as string;
  }

  /** Starts a job from the command line, where nobody tells a page about it; its id. */
  async startJob(...args: string[]): Promise<string> {
    const { stdout } = await this.fleet.salt('--async', ...args);
    const jid = /\d{20}/.exec(stdout)?.[0];
    if (!jid) throw new Error(`no job was started: ${stdout}`);
    return jid;
  }

  /** Waits until nobody is waited for. */
  async finished(jid: string): Promise<void> {
    const token = await this.login('ann');
    await eventually(
      'the job to end',
      async () => (await this.ask('GET', `/halite/v1/jobs/${jid}`, { token })).json.state === 'done',
    );
  }

  run(token: string, chunk: unknown): Promise<Reply> {
    return this.ask('POST', '/', { token, json: chunk });
  }

  /** Raw bytes on a connection, and everything that is answered until the server closes it. */
  raw(text: string, timeoutMs = 30_000): Promise<string> {
    return new Promise((resolve) => {
      const socket = connect(this.port, '127.0.0.1', () => socket.write(text));
      let answer = '';
      const timer = setTimeout(() => socket.destroy(), timeoutMs);
      socket.on('data', (chunk: Buffer) => {
        answer += chunk.toString('latin1');
      });
      socket.on('error', () => undefined);
      socket.on('close', () => {
        clearTimeout(timer);
        resolve(answer);
      });
    });
  }

  events(token: string, headers: Record<string, string> = {}): EventReader {
    return new EventReader(this.port, { 'X-Auth-Token': token, ...headers });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export interface ReadEvent {
  readonly tag: string;
  readonly id: string;
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what the test asserts
  readonly data: any;
}

/** A stream of events that is read as it comes. */
export class EventReader {
  text = '';
  status = 0;
  ended = false;
  readonly #request: ReturnType<typeof httpRequest>;

  constructor(port: number, headers: Record<string, string>) {
    this.#request = httpRequest(
      { host: '127.0.0.1', port, path: '/events', headers: { Accept: 'text/event-stream', ...headers }, agent: false },
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

  get begun(): boolean {
    return this.text.startsWith('retry: 400\n');
  }

  get records(): ReadEvent[] {
    return this.text
      .split('\n\n')
      .slice(0, -1)
      .flatMap((block) => {
        const line = (name: string): string => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? '';
        return line('data') === '' ? [] : [{ tag: line('tag'), id: line('id'), data: JSON.parse(line('data')).data }];
      });
  }

  close(): void {
    this.#request.destroy();
  }
}
