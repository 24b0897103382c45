// Real nats-servers: Debian's (2.9.10), and the current one, built from its Go module once for all runs.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildOnce, testCache } from '../build-once.ts';
import { freePorts } from '../ports.ts';
import { type Item, isMissing } from '../prepared.ts';
import { listens } from './memcached.ts';
import { findProgram, preparedProgram, type RunningServer, type ServerPlan, startServer } from './server.ts';

const version = '2.15.2';
const folder = join(testCache, `nats-server-${version}`);
const built = join(folder, 'bin', 'nats-server');

export const natsItem: Item = {
  name: `nats-server ${version}`,
  tiers: ['backends', 'integration', 'interop'],
  need: 'where there is',
  isThere: () => existsSync(join(folder, '.complete')),
  make() {
    const go = findProgram('go') ?? (existsSync('/usr/local/go/bin/go') ? '/usr/local/go/bin/go' : undefined);
    if (go === undefined) throw new Error('Go is not installed: tests use the nats-server of Debian only');
    const module = `github.com/nats-io/nats-server/v2@v${version}`;
    const settings = [
      `GOBIN=${join(folder, 'bin')}`,
      `GOPATH=${join(folder, 'go')}`,
      `GOCACHE=${join(folder, 'cache')}`,
    ];
    buildOnce(folder, [
      ['mkdir', '-p', folder],
      ['env', 'CGO_ENABLED=0', ...settings, 'nice', go, 'install', '-modcacherw', '-ldflags=-s -w', module],
      ['rm', '-rf', join(folder, 'go'), join(folder, 'cache')],
    ]);
  },
};

/** Programs of nats-server by what they are: those that this machine has. */
export function natsPrograms(): { name: string; program: string }[] {
  const found: { name: string; program: string }[] = [];
  const debian = preparedProgram('nats-server', 'nats-server');
  if (debian) found.push({ name: 'Debian', program: debian });
  if (natsItem.isThere()) found.push({ name: version, program: built });
  else isMissing(natsItem.name);
  return found;
}

export interface NatsCluster {
  /** For the option `servers` of a master. */
  readonly servers: readonly string[];
  readonly nodes: readonly RunningServer[];
  stop(): Promise<void>;
}

/** Servers that work as one: three, or one alone. */
export async function startNats(program: string, count: 1 | 3 = 1): Promise<NatsCluster> {
  const routes = await freePorts(count);
  const plan = (at: number): ServerPlan => ({
    name: `nats-${at}`,
    prepare: (folder, port) => writeFileSync(join(folder, 'nats.conf'), configuration(folder, port, at, routes)),
    command: (_port, folder) => [program, '-c', join(folder, 'nats.conf')],
    ready: listens,
    signal: 'SIGKILL',
  });
  const nodes = await Promise.all(routes.map((_route, at) => startServer(plan(at))));
  return {
    servers: nodes.map(({ port }) => `nats://127.0.0.1:${port}`),
    nodes,
    stop: async () => {
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}

function configuration(folder: string, port: number, at: number, routes: readonly number[]): string {
  const lines = [
    `listen: "127.0.0.1:${port}"`,
    `server_name: n${at}`,
    `jetstream { store_dir: "${folder}/store", max_mem: 256MB, max_file: 4GB }`,
  ];
  if (routes.length > 1) {
    const others = routes.map((route) => `"nats://127.0.0.1:${route}"`).join(', ');
    lines.push(`cluster { name: test, listen: "127.0.0.1:${routes[at]}", routes: [${others}] }`);
  }
  return `${lines.join('\n')}\n`;
}
