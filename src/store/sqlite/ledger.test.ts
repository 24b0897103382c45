// Whatever order the own writes of a member and the frames of the ledger arrive in: all members end with equal rows.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pack } from '../../base/codec/msgpack/index.ts';
import { type Dict, newDict, type Value } from '../../base/codec/value.ts';
import type { FrameItem, StoredFrame } from '../jobs.ts';
import { type Database, openDatabase } from './driver.ts';
import { schema, views } from './schema.ts';
import { prepareWrites, type Write, type WriteKind } from './statements.ts';

const jids = ['20261118120000000001', '20261118120000000012'];
const dictOf = (fields: Record<string, Value>): Dict => newDict(Object.entries(fields));

/** What the writer thread of a member does, without the thread. */
class Member {
  readonly #db: Database;
  readonly #write: Write;
  read = 0;

  private constructor(db: Database) {
    this.#db = db;
    this.#write = prepareWrites(db);
  }

  static async open(): Promise<Member> {
    const db = await openDatabase(':memory:');
    db.exec(schema);
    db.exec(views);
    return new Member(db);
  }

  write(kind: WriteKind, row: object): string {
    return this.#write(kind, pack(row as Dict));
  }

  rows(): unknown {
    const all = (sql: string): unknown => this.#db.prepare(sql).all();
    return [
      all('SELECT * FROM ret ORDER BY jid, id'),
      all('SELECT * FROM job ORDER BY jid'),
      all('SELECT * FROM head ORDER BY jid'),
      all('SELECT * FROM verdict ORDER BY jid, id'),
      // odd may also name a job whose odd result was replaced: it is then only read the slower way.
      all("SELECT jid FROM ret WHERE full_ret LIKE '%NaN%' AND jid NOT IN (SELECT jid FROM odd)"),
      all("SELECT value FROM meta WHERE key = 'ledger_position'"),
    ];
  }

  close(): void {
    this.#db.close();
  }
}

interface Step {
  /** How many more frames each member has read before this happens. */
  readonly reads: readonly number[];
  readonly at: number;
  readonly jid: string;
  readonly id: string;
  readonly value: Value;
  readonly attempt: number;
  /** The ledger has it only after so many more steps: it is held meanwhile. */
  readonly held: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  reads: fc.tuple(fc.nat(3), fc.nat(3), fc.nat(3)),
  at: fc.nat(2),
  jid: fc.constantFrom(...jids),
  id: fc.constantFrom('a', 'b'),
  value: fc.constantFrom<Value>('x', 'y', Number.NaN, 3),
  attempt: fc.constantFrom(1, 1, 1, 2, 3),
  held: fc.constantFrom(0, 0, 1, 4),
});

interface Waiting {
  readonly until: number;
  readonly from: number;
  readonly items: FrameItem[];
}

class World {
  readonly members: Member[];
  readonly #log: StoredFrame[] = [];
  #waiting: Waiting[] = [];

  constructor(members: Member[]) {
    this.members = members;
  }

  follow(member: number, most: number): void {
    const reader = this.members[member]!;
    for (let n = 0; n < most && reader.read < this.#log.length; n++) {
      const frame = this.#log[reader.read++]!;
      reader.write('frame', { ...frame, own: frame.from === member });
    }
  }

  /** What a member receives is in its own store at once, and in the ledger when that takes it. */
  receive(n: number, { at, jid, id, value, attempt, held }: Step): void {
    const member = this.members[at]!;
    const load = dictOf({ jid, id, fun: 'test.ping', return: value, retcode: 0, success: true });
    const row = { jid, id, fun: 'test.ping', retcode: 0, success: true, load, received: 1000 + n, attempt };
    const verdict = { jid, id, verdict: 'missing', reason: 'silent', text: `${at} ${n}`, evidence: newDict(), at: n };
    const items: FrameItem[] = [{ kind: 'verdict', ...verdict }];
    member.write('verdicts', { rows: [verdict] });
    if (member.write('return', { ...row, via: at }) === 'stored') items.push({ kind: 'ret', ...row });
    items.push({ kind: 'own', job: this.#ownRun(n, id) });
    member.write('job', { ...this.#ownRun(n, id), adopted: true });
    this.#waiting.push({ until: n + held, from: at, items });
  }

  #ownRun(n: number, tgt: string) {
    const jid = `2026111813000000000${n % 2}`;
    const load = dictOf({ cmd: '_return', id: tgt, fun: 'test.ping', arg: [], tgt, jid });
    const about = { fun: 'test.ping', tgt, tgt_type: 'glob', user: 'root', started: 5, internal: false };
    return { jid, ...about, load, expected: [tgt] };
  }

  /** The order of one member is kept; a frame of a member that is not held may overtake another member's. */
  order(now: number): void {
    const blocked = new Set<number>();
    const left: Waiting[] = [];
    for (const waiting of this.#waiting) {
      if (waiting.until > now || blocked.has(waiting.from)) {
        blocked.add(waiting.from);
        left.push(waiting);
      } else {
        const place = this.#log.length + 1;
        this.#log.push({ position: `p${place}`, place, from: waiting.from, own: false, items: waiting.items });
      }
    }
    this.#waiting = left;
  }
}

describe('stores of three members', () => {
  it('are equal at the end, whatever came when', async () => {
    const runs = Number(process.env['HALITE_LEDGER_RUNS'] ?? 150);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 16 }), async (steps) => {
        const world = new World([await Member.open(), await Member.open(), await Member.open()]);
        for (const [n, each] of steps.entries()) {
          world.receive(n, each);
          world.order(n);
          for (const [member, most] of each.reads.entries()) world.follow(member, most);
        }
        world.order(Number.POSITIVE_INFINITY);
        for (const member of [0, 1, 2]) world.follow(member, Number.POSITIVE_INFINITY);
        const [one, other, third] = world.members.map((member) => member.rows());
        for (const member of world.members) member.close();
        expect(other).toEqual(one);
        expect(third).toEqual(one);
        expect(JSON.stringify(one)).not.toContain('"place":-1');
      }),
      { numRuns: runs },
    );
  });
});
