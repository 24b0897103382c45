// The configuration of a nats-server for masters, as text; and which version a program is.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { HaliteError } from '../../../base/errors/index.ts';
import { type ClusterOptions, isLoopback } from '../options.ts';

export interface ServerPlan {
  readonly name: string;
  readonly cluster: string;
  /** Where masters connect, `host:port`. */
  readonly listen: string;
  readonly store: string;
  /** Between servers; absent for one server alone. */
  readonly routes?: { readonly listen: string; readonly peers: readonly string[] };
  readonly tls: ClusterOptions['tls'];
  readonly insecure: boolean;
  /** Of masters; absent when client certificates or the network decide. */
  readonly login?: { readonly user: string; readonly password: string };
  /** `sync_interval: always` is understood from 2.10 on. */
  readonly syncAlways: boolean;
  readonly pidFile?: string;
}

const places = (): string[] => [
  ...(process.env['PATH'] ?? '').split(delimiter),
  ...['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin'],
];

export interface FoundServer {
  readonly program: string;
  readonly version: string;
  readonly syncAlways: boolean;
}

export function findNatsServer(): FoundServer {
  const program = places()
    .map((folder) => join(folder, 'nats-server'))
    .find((file) => existsSync(file));
  if (program === undefined) {
    throw new HaliteError('config.missing', 'There is no nats-server in PATH', {
      hint: 'Install it, for example with: apt-get install nats-server',
    });
  }
  const shown = spawnSync(program, ['--version'], { encoding: 'utf8', timeout: 10_000 }).stdout ?? '';
  const [, version = '', major = '0', minor = '0'] = /v((\d+)\.(\d+)\.\S+)/.exec(shown) ?? [];
  if (version === '') throw new HaliteError('config.value', `${program} does not tell its version: ${shown.trim()}`);
  return { program, version, syncAlways: Number(major) > 2 || Number(minor) >= 10 };
}

export type Login = NonNullable<ServerPlan['login']>;

/** The login in a configuration that `serverConfig` wrote. */
export function loginOf(config: string): Login | undefined {
  const [, user, password] = /^authorization \{ user: "([^"]*)", password: "([^"]*)" \}$/m.exec(config) ?? [];
  return user === undefined || password === undefined ? undefined : { user, password };
}

/** Text in the quotes of the configuration; it has no way to end them. */
function quoted(text: string): string {
  if (/["\\\n]/.test(text))
    throw new HaliteError('config.value', `This cannot be written into the configuration of a nats-server: ${text}`);
  return `"${text}"`;
}

export function serverConfig(plan: ServerPlan): string {
  const { tls, routes } = plan;
  const open = [plan.listen, ...(routes ? [routes.listen] : [])].filter((address) => !isLoopback(address));
  if (open.length > 0 && !plan.insecure && (tls.cert === undefined || tls.key === undefined)) {
    throw new HaliteError('config.value', `A nats-server that listens on ${open.join(' and ')} needs TLS`, {
      hint: 'Set cert, key and ca below `cluster:`, or `insecure: true` in a network that you trust.',
    });
  }
  const lines = [
    '# Written by Halite.',
    `listen: ${quoted(plan.listen)}`,
    `server_name: ${quoted(plan.name)}`,
    'max_payload: 1MB',
    'jetstream {',
    `  store_dir: ${quoted(plan.store)}`,
    ...(plan.syncAlways ? ['  sync_interval: always'] : []),
    '}',
  ];
  if (plan.pidFile !== undefined) lines.push(`pid_file: ${quoted(plan.pidFile)}`);
  if (plan.login) {
    lines.push(`authorization { user: ${quoted(plan.login.user)}, password: ${quoted(plan.login.password)} }`);
  }
  lines.push(...tlsLines('', tls));
  if (routes) {
    const peers = routes.peers.map((peer) => `    ${quoted(`nats-route://${peer}`)}`);
    lines.push(
      'cluster {',
      `  name: ${quoted(`halite-${plan.cluster}`)}`,
      `  listen: ${quoted(routes.listen)}`,
      '  routes: [',
    );
    lines.push(...peers, '  ]', ...tlsLines('  ', tls), '}');
  }
  return `${lines.join('\n')}\n`;
}

function tlsLines(indent: string, { ca, cert, key }: ClusterOptions['tls']): string[] {
  if (cert === undefined || key === undefined) return [];
  const files = [`cert_file: ${quoted(cert)}`, `key_file: ${quoted(key)}`];
  // With a certificate authority of its own the cluster takes nobody without a certificate of it.
  if (ca !== undefined) files.push(`ca_file: ${quoted(ca)}`, 'verify: true');
  return [`${indent}tls {`, ...files.map((line) => `${indent}  ${line}`), `${indent}}`];
}
