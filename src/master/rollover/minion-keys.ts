// Which key of the master each minion has: as it told under its session, and as it was answered at a sign-in. Kept on
// disk, one line for each change, so that a restarted master answers everyone with the key that it trusts.
import { appendFileSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { intField, textField } from '../../base/codec/fields.ts';
import { isDict, type Value } from '../../base/codec/value.ts';
import { isValidMinionId } from '../../base/util/valid-id.ts';
import type { KnownKeys } from '../../protocol/wire/messages/master-key.ts';

/** A sign-in proves nothing: anyone can send the public key of a minion. What it says counts for its host only. */
export interface SignedIn {
  readonly host: string;
  /** Fingerprints: the key that it showed to trust, and the one that it was answered with. */
  readonly trusts: string;
  readonly presented: string;
}

export interface MinionKey {
  /** What the minion itself told, under its session. */
  readonly told: KnownKeys | undefined;
  /** The last ones, newest last. */
  readonly signIns: readonly SignedIn[];
  /** When any of this was heard last, in milliseconds since the epoch. */
  readonly at: number;
}

/** A line of the file, which other masters of a cluster get as well. */
export type MinionNews = Readonly<Record<string, string>>;
type Origin = 'here' | 'elsewhere';

const nothing: MinionKey = { told: undefined, signIns: [], at: 0 };
const mostMinions = 200_000;
/** Hosts from which one id signs in: more than a few are strangers. */
const mostHosts = 4;

export const hostOf = (peer: string): string => (peer.split(' ')[0] ?? '').replace(/:\d+$/, '');

export class MinionKeys {
  readonly #file: string;
  readonly #failed: (error: unknown) => void;
  readonly #known = new Map<string, MinionKey>();
  #listener: ((news: MinionNews) => void) | undefined;

  constructor(pkiDir: string, failed: (error: unknown) => void) {
    this.#file = join(pkiDir, 'master_rollover.minions');
    this.#failed = failed;
    this.#read();
  }

  /** Called with what this master itself learns. */
  onNews(listener: (news: MinionNews) => void): void {
    this.#listener = listener;
  }

  of(id: string): MinionKey {
    return this.#known.get(id) ?? nothing;
  }

  /** The key that this minion was answered with at its last sign-in from there; empty when there was none. */
  presented(id: string, host: string): string {
    const { signIns } = this.of(id);
    return (signIns.find((one) => one.host === host) ?? signIns.at(-1))?.presented ?? '';
  }

  told(id: string, told: KnownKeys, origin: Origin = 'here'): void {
    const before = this.of(id);
    if (!this.#set(id, { ...before, told, at: Date.now() })) return;
    if (before.told?.trusts !== told.trusts || before.told.next !== told.next) this.#write({ id, ...told }, origin);
  }

  signedIn(id: string, { host, trusts, presented }: SignedIn, origin: Origin = 'here'): void {
    const before = this.of(id);
    const known = before.signIns.find((one) => one.host === host);
    const others = before.signIns.filter((one) => one !== known).slice(1 - mostHosts);
    if (!this.#set(id, { ...before, signIns: [...others, { host, trusts, presented }], at: Date.now() })) return;
    if (known?.trusts !== trusts || known.presented !== presented) this.#write({ id, host, trusts, presented }, origin);
  }

  clear(): void {
    this.#known.clear();
    rmSync(this.#file, { force: true });
  }

  #set(id: string, value: MinionKey): boolean {
    if (!this.#known.has(id) && this.#known.size >= mostMinions) return false;
    this.#known.set(id, value);
    return true;
  }

  #write(line: MinionNews, origin: Origin): void {
    if (origin === 'here') this.#listener?.(line);
    try {
      appendFileSync(this.#file, `${JSON.stringify({ ...line, at: Date.now() })}\n`, { mode: 0o600 });
    } catch (error) {
      this.#failed(error);
    }
  }

  #read(): void {
    let text = '';
    try {
      text = readFileSync(this.#file, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#failed(error);
    }
    for (const line of text.split('\n')) if (line !== '') this.#readLine(line);
  }

  #readLine(line: string): void {
    let value: Value;
    try {
      value = JSON.parse(line) as Value;
    } catch {
      // The last line of a killed master.
      return;
    }
    if (!isDict(value)) return;
    const [id, trusts, next] = [textField(value, 'id'), textField(value, 'trusts'), textField(value, 'next')];
    const [host, presented] = [textField(value, 'host'), textField(value, 'presented')];
    if (id === undefined || !isValidMinionId(id) || trusts === undefined) return;
    const before = { ...this.of(id), at: intField(value, 'at') ?? 0 };
    if (next !== undefined) this.#set(id, { ...before, told: { trusts, next } });
    if (host === undefined || presented === undefined) return;
    const others = before.signIns.filter((one) => one.host !== host).slice(1 - mostHosts);
    this.#set(id, { ...before, signIns: [...others, { host, trusts, presented }] });
  }
}
