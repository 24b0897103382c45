// Machines as network namespaces on one bridge, and silent cuts between them: a wrong neighbour entry, so that packets vanish
// without a word, as with a pulled cable. Needs root.
import { spawnSync } from 'node:child_process';

const run = (...words: readonly string[]): boolean =>
  spawnSync(words[0]!, words.slice(1), { stdio: 'ignore' }).status === 0;

function must(...words: readonly string[]): void {
  const done = spawnSync(words[0]!, words.slice(1), { encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`${words.join(' ')}: ${done.stderr || String(done.error)}`);
}

/** Why there can be none here; undefined when there can. */
export function whyNoNamespaces(): string | undefined {
  if (process.getuid?.() !== 0) return 'network namespaces need root';
  const name = `hf${process.pid}probe`;
  if (!run('ip', 'netns', 'add', name)) return 'this machine allows no network namespaces';
  run('ip', 'netns', 'del', name);
  return undefined;
}

export class Network {
  readonly #prefix = `hf${process.pid}`;
  readonly #machines = new Map<string, number>();
  readonly #cuts = new Set<string>();
  readonly #unplugged = new Set<string>();

  constructor(machines: readonly string[]) {
    const hub = `${this.#prefix}hub`;
    // Of a run that was killed and whose number came again.
    for (const old of [hub, ...machines.map((name) => this.#space(name))]) run('ip', 'netns', 'del', old);
    must('ip', 'netns', 'add', hub);
    must('ip', '-n', hub, 'link', 'add', 'br0', 'type', 'bridge');
    must('ip', '-n', hub, 'link', 'set', 'br0', 'up');
    for (const [at, name] of machines.entries()) {
      const space = this.#space(name);
      this.#machines.set(name, at + 1);
      must('ip', 'netns', 'add', space);
      must('ip', '-n', space, 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', `v${at}`, 'netns', hub);
      must('ip', '-n', hub, 'link', 'set', `v${at}`, 'master', 'br0', 'up');
      must('ip', '-n', space, 'addr', 'add', `${this.address(name)}/24`, 'dev', 'eth0');
      must('ip', '-n', space, 'link', 'set', 'eth0', 'up');
      must('ip', '-n', space, 'link', 'set', 'lo', 'up');
    }
  }

  address(name: string): string {
    return `10.77.0.${this.#machines.get(name)}`;
  }
  /** In front of a command that runs on a machine. */
  on(name: string): string[] {
    return ['ip', 'netns', 'exec', this.#space(name)];
  }

  /** Silence in both directions. */
  cut(one: string, other: string): void {
    this.cutOneWay(one, other);
    this.cutOneWay(other, one);
  }
  /** What one sends does not reach the other; what the other sends arrives. */
  cutOneWay(from: string, to: string): void {
    const wrong = ['lladdr', '02:00:00:00:00:99', 'dev', 'eth0', 'nud', 'permanent'];
    must('ip', '-n', this.#space(from), 'neigh', 'replace', this.address(to), ...wrong);
    this.#cuts.add(`${from} ${to}`);
  }

  heal(one: string, other: string): void {
    for (const pair of [`${one} ${other}`, `${other} ${one}`]) if (this.#cuts.delete(pair)) this.#join(pair);
  }
  healAll(): void {
    for (const pair of this.#cuts) this.#join(pair);
    this.#cuts.clear();
    for (const name of this.#unplugged) this.plug(name);
  }
  #join(pair: string): void {
    const [from = '', to = ''] = pair.split(' ');
    run('ip', '-n', this.#space(from), 'neigh', 'del', this.address(to), 'dev', 'eth0');
  }

  /** Its cable is pulled: the machine knows it. */
  unplug(name: string): void {
    must('ip', '-n', this.#space(name), 'link', 'set', 'eth0', 'down');
    this.#unplugged.add(name);
  }
  plug(name: string): void {
    must('ip', '-n', this.#space(name), 'link', 'set', 'eth0', 'up');
    this.#unplugged.delete(name);
  }

  close(): void {
    for (const name of this.#machines.keys()) run('ip', 'netns', 'del', this.#space(name));
    run('ip', 'netns', 'del', `${this.#prefix}hub`);
  }

  #space(name: string): string {
    return `${this.#prefix}${name}`;
  }
}
