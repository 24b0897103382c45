// Where a reader of the ledger is, as text: the stream, the number in it, and the last number of each boot.
import type { Position } from '../messages.ts';

export interface Place {
  /** Which stream of this name. */
  readonly birth: string;
  readonly seq: number;
  readonly boots: readonly (readonly [boot: string, n: number])[];
}

const mostBoots = 24;
const form = /^1 ([\w:.+-]+) (\d{1,16})((?: [0-9a-f]{16}:\d{1,16}){0,24})$/;

export function positionText({ birth, seq, boots }: Place): Position {
  return `1 ${birth} ${seq}${boots
    .slice(-mostBoots)
    .map(([boot, n]) => ` ${boot}:${n}`)
    .join('')}`;
}

/** Undefined for text that is no position. */
export function readPosition(text: Position): Place | undefined {
  const [, birth, seq, boots = ''] = form.exec(text) ?? [];
  if (birth === undefined) return undefined;
  const pairs = boots.split(' ').filter((pair) => pair !== '');
  return {
    birth,
    seq: Number(seq),
    boots: pairs.map((pair) => [pair.slice(0, 16), Number(pair.slice(17))] as const),
  };
}
