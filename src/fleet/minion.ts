// One simulated minion: who it is, and how far it is with its master.
import { randomBytes } from 'node:crypto';
import { type Dict, newDict } from '../base/codec/value.ts';
import type { Crypticle } from '../base/crypto/index.ts';
import { bootText, presenceTopic } from '../protocol/wire/presence-topic.ts';
import { grainsOf } from './grains.ts';
import type { MinionKey } from './keys.ts';

/** `out`: not signed in yet, or given up. `away`: left for a while. */
export type MinionState = 'out' | 'in' | 'away';

const noPillar = newDict();
const boot = bootText(randomBytes(8).toString('hex'), { pid: process.pid, address: '' });

export class SimulatedMinion {
  readonly index: number;
  readonly id: string;
  readonly key: MinionKey;
  state: MinionState = 'out';
  /** Those who wait for its sign-in, while there is one. */
  signingIn: ((ok: boolean) => void)[] | undefined;
  session: (() => Crypticle) | undefined;
  /** The presence text of its subscription; empty: none. */
  presence = '';
  /** Of its last introduction over the present connection. */
  introduced: unknown;
  pillar: Dict = noPillar;
  readonly #number: number;

  constructor(index: number, number: number, id: string, key: MinionKey) {
    this.index = index;
    this.#number = number;
    this.id = id;
    this.key = key;
  }

  /** Made when a target or an answer needs them: tens of thousands of minions hold none. */
  get grains(): ReturnType<typeof grainsOf> {
    return grainsOf(this.id, this.#number);
  }

  presenceNow(): string {
    return this.session ? presenceTopic({ id: this.id, boot }, this.session().keyString) : '';
  }
}
