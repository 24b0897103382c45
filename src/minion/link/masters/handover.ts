// Moves this minion to another master: the new one is tried first, then listed beside the old ones, and these are left
// when the new one has been connected without a break for a while. What is under way survives a restart.
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { boolField, intField, textField } from '../../../base/codec/fields.ts';
import { isTexts, newDict, type PlainDict } from '../../../base/codec/value.ts';
import { loadMinionConfig, type MinionOpts } from '../../../base/config/index.ts';
import { parseHostPort } from '../../../base/config/master-address.ts';
import { HaliteError, messageOf } from '../../../base/errors/index.ts';
import type { Logger } from '../../../base/log/index.ts';
import { replaceFileNow } from '../../../base/util/replace-file.ts';
import type { MasterLink } from '../master-link.ts';
import type { HotMasters } from './hot.ts';
import { mastersInOrder, nameOf } from './order.ts';

export interface HandoverParts {
  readonly opts: MinionOpts;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly hot: HotMasters;
}

/** What is under way, as it is stored. */
interface Moving {
  readonly to: string;
  readonly hold: number;
}

const longestHold = 30 * 24 * 3600;
const lookMs = 1000;
/** When the old masters could not be left: the configuration has to be corrected first, by an operator. */
const againMs = 60_000;

export class Handover {
  readonly #parts: HandoverParts;
  readonly #stateFile: string;
  #timer: NodeJS.Timeout | undefined;
  /** Links that are dropped in a moment. A handover back to such a master keeps its link. */
  readonly #leaving = new Map<MasterLink, NodeJS.Timeout>();
  #busy = false;

  constructor(parts: HandoverParts) {
    this.#parts = parts;
    this.#stateFile = join(parts.opts.cachedir, 'halite', 'handover.json');
    const stop = (): void => {
      clearInterval(this.#timer);
      for (const timer of this.#leaving.values()) clearTimeout(timer);
    };
    parts.signal.addEventListener('abort', stop, { once: true });
  }

  /** Goes on with a handover that an earlier run of the daemon began. */
  resume(): void {
    const moving = this.#stored();
    if (moving) this.#watch(moving);
  }

  async request(request: PlainDict): Promise<PlainDict> {
    if (this.#busy) throw new HaliteError('call.failed', 'Another handover is being tried just now');
    this.#busy = true;
    try {
      return await this.#move(request);
    } finally {
      this.#busy = false;
    }
  }

  async #move(request: PlainDict): Promise<PlainDict> {
    const { opts, hot } = this.#parts;
    const { host, port } = parseHostPort(textField(request, 'to') ?? '');
    const address = { host, port: port ?? opts.master_port };
    const to = nameOf(address);
    const hold = Math.min(Math.max(intField(request, 'hold') ?? 3600, 0), longestHold);
    const had = hot.links.some((link) => link.name === to && link.state !== 'stopped');
    // Key, subscription and pillar are verified here; a master with another key is refused.
    const link = await hot.tryOut(address);
    const others = this.#names().filter((name) => name !== to);
    const report = (state: string, masters: readonly string[]): PlainDict =>
      newDict([
        ['state', state],
        ['masters', [...masters]],
      ]);
    if (boolField(request, 'test')) {
      if (!had) hot.drop(link);
      return report('would move', [to, ...others]);
    }
    if (boolField(request, 'finish') || hold === 0) {
      this.#finish(to);
      return report('moved', [to]);
    }
    this.#write([to, ...others]);
    this.#stay(to);
    const moving = { to, hold };
    mkdirSync(dirname(this.#stateFile), { recursive: true, mode: 0o700 });
    replaceFileNow(this.#stateFile, JSON.stringify(moving));
    this.#watch(moving);
    return report(`connected; the others are left in ${hold} seconds`, [to, ...others]);
  }

  /** Masters in use, as they are listed; not those that this minion is leaving. */
  #names(): string[] {
    const inUse = (link: MasterLink): boolean => link.state !== 'stopped' && !this.#leaving.has(link);
    return this.#parts.hot.links.filter(inUse).map(({ name }) => name);
  }

  /** The link to this master is used from now on, also when it was to be dropped. */
  #stay(name: string): void {
    for (const [link, timer] of this.#leaving) {
      if (link.name !== name) continue;
      clearTimeout(timer);
      this.#leaving.delete(link);
      this.#parts.hot.listed.add(name);
    }
  }

  /** Drops a link in a moment: the answer to the very job that asks for it goes through it. */
  #leave(link: MasterLink): void {
    const { hot } = this.#parts;
    if (this.#leaving.has(link)) return;
    const timer = setTimeout(() => {
      this.#leaving.delete(link);
      hot.drop(link);
    }, lookMs);
    this.#leaving.set(link, timer.unref());
  }

  #stored(): Moving | undefined {
    try {
      const value = JSON.parse(readFileSync(this.#stateFile, 'utf8')) as Partial<Moving>;
      const { to, hold } = value;
      return typeof to === 'string' && typeof hold === 'number' ? { to, hold } : undefined;
    } catch {
      return undefined;
    }
  }

  /** Each break of the connection begins the time anew. */
  #watch({ to, hold }: Moving): void {
    clearInterval(this.#timer);
    let since = performance.now();
    let notBefore = since;
    this.#timer = setInterval(() => {
      // Another handover, which is being tried just now, decides anew.
      if (this.#busy) return;
      const link = this.#parts.hot.links.find(({ name, state }) => name === to && state !== 'stopped');
      if (!link?.ready) since = performance.now();
      if (performance.now() - since < hold * 1000 || performance.now() < notBefore) return;
      try {
        this.#finish(to);
      } catch (error) {
        notBefore = performance.now() + againMs;
        this.#parts.log.limited('handover', 'error', 'the old masters could not be left', { error: messageOf(error) });
      }
    }, lookMs);
    this.#timer.unref();
  }

  #finish(to: string): void {
    const { hot, log } = this.#parts;
    this.#write([to]);
    clearInterval(this.#timer);
    rmSync(this.#stateFile, { force: true });
    this.#stay(to);
    const old = hot.links.filter(({ name }) => name !== to);
    // Results that they still wait for are the new master's when they are gone.
    for (const link of old) this.#leave(link);
    log.info('this minion has another master', { master: to, left: old.map(({ name }) => name).join(', ') });
  }

  /** Lists the masters in a file of the configuration folder, and makes sure that it counts. */
  #write(masters: readonly string[]): void {
    const { opts } = this.#parts;
    const main = opts.raw['conf_file'];
    if (typeof main !== 'string') throw new HaliteError('config.missing', 'This minion has no configuration file');
    const configDir = dirname(main);
    const file = join(configDir, 'minion.d', '_masters.conf');
    const before = existsSync(file) ? readFileSync(file) : undefined;
    const kept = before ? this.#keep(file) : undefined;
    mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
    const lines = [
      '# Written by master.handover: the masters of this minion.',
      'master:',
      ...masters.map((name) => `  - '${name}'`),
    ];
    replaceFileNow(file, `${lines.join('\n')}\n`, 0o644);
    const problem = this.#problem(configDir, masters);
    if (problem === undefined) return;
    if (before) replaceFileNow(file, before, 0o644);
    else rmSync(file, { force: true });
    // Nothing was changed, so there is nothing to go back to; attempts that are repeated leave no copies behind.
    if (kept !== undefined) rmSync(kept, { recursive: true, force: true });
    throw new HaliteError('config.value', problem, {
      hint: `Write the masters there yourself: ${masters.join(', ')}`,
    });
  }

  #problem(configDir: string, masters: readonly string[]): string | undefined {
    try {
      const { opts, sources } = loadMinionConfig({ configDir });
      const found = mastersInOrder(opts, isTexts(opts.master) ? opts.master : String(opts.master)).map(nameOf);
      const same = found.length === masters.length && masters.every((name) => found.includes(name));
      return same
        ? undefined
        : `Another file sets master as well, and then it would be ${found.join(', ')}: ${sources.join(', ')}`;
    } catch (error) {
      return messageOf(error);
    }
  }

  /** Copies the file to a folder of its own, which is returned. */
  #keep(file: string): string {
    const time = new Date()
      .toISOString()
      .replace(/\.\d+Z$/, 'Z')
      .replaceAll(':', '-');
    const parent = join(this.#parts.opts.cachedir, 'backup');
    mkdirSync(parent, { recursive: true, mode: 0o700 });
    for (let more = 1; ; more++) {
      const folder = join(parent, more === 1 ? time : `${time}.${more}`);
      // Two within a second.
      if (existsSync(folder)) continue;
      mkdirSync(folder, { mode: 0o700 });
      copyFileSync(file, join(folder, '_masters.conf'));
      return folder;
    }
  }
}
