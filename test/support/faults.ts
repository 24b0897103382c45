// Ways to break things on purpose: wrapped daemons, a network that can be cut, a proxy that loses messages.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { halite, type Implementation } from './deployment.ts';

/** The Halite minion started through another program (`ip netns exec x`, `env A=b`). */
export function wrapped(folder: string, name: string, before: readonly string[]): Implementation {
  const bin = join(folder, `bin-${name}`);
  mkdirSync(bin, { recursive: true });
  const script = `#!/bin/sh\nexec ${before.join(' ')} ${join(halite.bin, 'salt-minion')} "$@"\n`;
  writeFileSync(join(bin, 'salt-minion'), script);
  chmodSync(join(bin, 'salt-minion'), 0o755);
  return { name, bin };
}

/** A minion whose clock is wrong by so many seconds. */
export function withClock(folder: string, seconds: number): Implementation {
  const file = join(folder, `clock${seconds}.mjs`);
  const code = `const real = Date; const shift = ${seconds * 1000};
globalThis.Date = class extends real {
  constructor(...args) { if (args.length === 0) super(real.now() + shift); else super(...args); }
  static now() { return real.now() + shift; }
};\n`;
  writeFileSync(file, code);
  return wrapped(folder, `clock${seconds}`, ['env', `NODE_OPTIONS=--import=${pathToFileURL(file).href}`]);
}

/** Signals a daemon with everything it started. */
export function signalAll(pid: number, signal: NodeJS.Signals): void {
  process.kill(-pid, signal);
}

function ip(...args: string[]): void {
  const done = spawnSync('ip', args, { encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`ip ${args.join(' ')}: ${done.stderr ?? done.error?.message}`);
}

/** True where this user may make network namespaces. */
export function canCutNetworks(): boolean {
  const name = `halite${process.pid}x`;
  if (spawnSync('ip', ['netns', 'add', name]).status !== 0) return false;
  spawnSync('ip', ['netns', 'del', name]);
  return true;
}

/** A network of its own for one minion, with a wire that can be cut: no reset, no goodbye, just silence. */
export class FarNetwork {
  readonly name = `halite${process.pid}`;
  /** Address of the master's side, and of the minion. */
  readonly near: string;
  readonly far: string;
  readonly #wire = `hal${process.pid % 100_000}`;

  constructor() {
    const net = `198.18.${process.pid % 200}`;
    this.near = `${net}.1`;
    this.far = `${net}.2`;
    ip('netns', 'add', this.name);
    ip('link', 'add', `${this.#wire}a`, 'type', 'veth', 'peer', 'name', `${this.#wire}b`, 'netns', this.name);
    ip('addr', 'add', `${this.near}/30`, 'dev', `${this.#wire}a`);
    ip('link', 'set', `${this.#wire}a`, 'up');
    ip('-n', this.name, 'addr', 'add', `${this.far}/30`, 'dev', `${this.#wire}b`);
    ip('-n', this.name, 'link', 'set', `${this.#wire}b`, 'up');
    ip('-n', this.name, 'link', 'set', 'lo', 'up');
  }

  cut(): void {
    ip('-n', this.name, 'link', 'set', `${this.#wire}b`, 'down');
  }
  heal(): void {
    ip('-n', this.name, 'link', 'set', `${this.#wire}b`, 'up');
  }
  remove(): void {
    spawnSync('ip', ['link', 'del', `${this.#wire}a`]);
    spawnSync('ip', ['netns', 'del', this.name]);
  }
}

/** Passes bytes on to a port, until told to lose a message together with its connection, or to meddle with replies. */
export class LossyProxy {
  readonly port: number;
  lost = 0;
  /** Sees all bytes that come back, may change them or keep them waiting. */
  onReply: (bytes: Buffer) => void | Promise<void> = () => undefined;
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  #losing = false;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
  }

  static async to(target: number): Promise<LossyProxy> {
    const server = createServer();
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const proxy = new LossyProxy(server, (server.address() as { port: number }).port);
    server.on('connection', (client) => proxy.#serve(client, target));
    return proxy;
  }

  /** The next request of at least this many bytes does not arrive. */
  loseNext(): void {
    this.#losing = true;
  }

  #serve(client: Socket, target: number): void {
    const upstream = connect(target, '127.0.0.1');
    for (const socket of [client, upstream]) {
      this.#open.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        this.#open.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (piece) => {
      // Small pieces are ZeroMQ's own greetings and heartbeats.
      if (this.#losing && piece.length > 200) {
        this.#losing = false;
        this.lost++;
        client.destroy();
      } else upstream.write(piece);
    });
    upstream.on('data', (piece: Buffer) => {
      const waiting = this.onReply(piece);
      if (!waiting) return void client.write(piece);
      upstream.pause();
      void waiting.then(() => {
        client.write(piece);
        upstream.resume();
      });
    });
  }

  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((done) => this.#server.close(done));
  }
}
