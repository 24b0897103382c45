// The names of this machine, in the order in which Salt prefers them as minion id.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { hostname, networkInterfaces } from 'node:os';

/** Facts about the machine; tests supply their own. */
export interface HostFacts {
  hostname(): string;
  /** Canonical name and aliases of the address a name resolves to. */
  resolve(name: string): readonly string[];
  readFile(path: string): string | undefined;
  /** IPv4 addresses, loopback left out. */
  addresses(): readonly string[];
}

/** Names that do not identify a machine. */
const localNames = [
  /^localhost/,
  /^ip6-/,
  /^127[.]\d/,
  /^0\.0\.0\.0/,
  /^::1/,
  /^ipv6-/,
  /^fe00::/,
  /^fe02::/,
  /^1.0.0.*.ip6.arpa/,
];

const nameFiles = ['/etc/hostname', '/etc/nodename', '/etc/hosts'];

/** Python's getfqdn: the first name with a dot among canonical name and aliases, else the canonical name. */
function fullName(name: string, facts: HostFacts): string {
  const names = facts.resolve(name);
  return names.find((item) => item.includes('.')) ?? names[0] ?? name;
}

/** The id for a machine without a configured id. */
export function generateMinionId(facts: HostFacts = systemFacts): string {
  for (const name of candidates(facts)) {
    if (name !== '' && !localNames.some((pattern) => pattern.test(name))) return name;
  }
  return 'localhost';
}

function* candidates(facts: HostFacts): Generator<string> {
  const name = facts.hostname();
  yield fullName(name, facts);
  yield name;
  for (const file of nameFiles) yield* namesIn(facts.readFile(file) ?? '');
  yield* facts.addresses();
}

/** Lines of one word, and lines of a loopback address. */
function* namesIn(text: string): Generator<string> {
  for (const line of text.split('\n')) {
    const words = (line.split('#')[0] ?? '').trim().split(/\s+/);
    const first = words[0] ?? '';
    if (first !== '' && (words.length === 1 || first.startsWith('127.') || first === '::1')) yield* words;
  }
}

const addressNumber = (address: string): number =>
  address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);

/** Asks the system's resolver, as Python does; Node has no blocking call for it. */
function systemResolve(name: string): readonly string[] {
  const address = getent('ahosts', name)?.split(/\s+/)[0];
  const line = address && getent('hosts', address);
  if (line) return line.trim().split(/\s+/).slice(1);
  return hostsFileNames(name);
}

function getent(database: string, key: string): string | undefined {
  const run = spawnSync('getent', [database, '--', key], {
    encoding: 'utf8',
    timeout: 10_000,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const first = run.status === 0 ? run.stdout.split('\n')[0] : undefined;
  return first || undefined;
}

/** Where there is no getent: the line of the hosts file that has the name. */
function hostsFileNames(name: string): readonly string[] {
  const text = readText('/etc/hosts') ?? '';
  for (const line of text.split('\n')) {
    const words = (line.split('#')[0] ?? '').trim().split(/\s+/).slice(1);
    if (words.includes(name)) return words;
  }
  return [];
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

const systemFacts: HostFacts = {
  hostname,
  resolve: systemResolve,
  readFile: readText,
  addresses: () =>
    Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .filter((item) => item.family === 'IPv4' && !item.internal)
      .map((item) => item.address)
      .sort((a, b) => addressNumber(a) - addressNumber(b)),
};

let ownName: string | undefined;

/** The full name of this machine. */
export function hostFullName(): string {
  ownName ??= fullName(hostname(), systemFacts);
  return ownName;
}
