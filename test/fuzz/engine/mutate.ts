// New inputs out of old ones.
import type { Dice } from '../../support/fuzz.ts';

const numbers =
  '0|1|-1|7|8|9|10|16|31|32|60|64|100|127|128|255|256|999|1000|4096|65535|65536|2147483647|-2147483648|4294967296|9007199254740993|1e308|1e999|0.5|99999999999999999999'.split(
    '|',
  );

export interface Material {
  /** Inputs that reached something new. */
  readonly corpus: readonly Uint8Array[];
  readonly tokens: readonly Uint8Array[];
  readonly maxLength: number;
}

type Mutation = (input: Uint8Array, dice: Dice, material: Material) => Uint8Array;

const replaced = (input: Uint8Array, from: number, to: number, ...parts: Uint8Array[]): Uint8Array =>
  Buffer.concat([input.subarray(0, from), ...parts, input.subarray(to)]);

function range(input: Uint8Array, dice: Dice, longest = 32): [number, number] {
  const from = dice.below(input.length + 1);
  const most = dice.chance(0.1) ? input.length : longest;
  return [from, Math.min(input.length, from + 1 + dice.below(most))];
}

const mutations: readonly Mutation[] = [
  // One bit, one byte.
  (input, dice) => {
    const copy = Uint8Array.from(input);
    if (copy.length > 0) copy[dice.below(copy.length)]! ^= 1 << dice.below(8);
    return copy;
  },
  (input, dice) => {
    const copy = Uint8Array.from(input);
    if (copy.length > 0) copy[dice.below(copy.length)] = dice.below(256);
    return copy;
  },
  // Bytes more, bytes less.
  (input, dice) => {
    const at = dice.below(input.length + 1);
    return replaced(
      input,
      at,
      at,
      Uint8Array.from({ length: 1 + dice.below(4) }, () => dice.below(256)),
    );
  },
  (input, dice) => replaced(input, ...range(input, dice)),
  // A token, here or instead of something.
  insertToken,
  insertToken,
  (input, dice, { tokens }) =>
    tokens.length === 0 ? input : replaced(input, ...range(input, dice, 8), dice.pick(tokens)),
  // A piece again, once or often.
  (input, dice) => {
    const [from, to] = range(input, dice);
    const times = dice.chance(0.2) ? 1 + dice.below(60) : 1;
    return replaced(input, to, to, ...Array.from({ length: times }, () => input.subarray(from, to)));
  },
  // A piece elsewhere.
  (input, dice) => {
    const piece = input.subarray(...range(input, dice));
    const at = dice.below(input.length + 1);
    return replaced(input, at, at, piece);
  },
  // A piece of another input.
  (input, dice, { corpus }) => {
    const other = dice.pick(corpus);
    return replaced(input, ...range(input, dice), other.subarray(...range(other, dice, 64)));
  },
  (input, dice, { corpus }) => {
    const other = dice.pick(corpus);
    return Buffer.concat([
      input.subarray(0, dice.below(input.length + 1)),
      other.subarray(dice.below(other.length + 1)),
    ]);
  },
  // Another number in place of one.
  (input, dice) => {
    const digits = [...Buffer.from(input).toString('latin1').matchAll(/\d+/g)];
    if (digits.length === 0) return input;
    const found = dice.pick(digits);
    return replaced(input, found.index, found.index + found[0].length, Buffer.from(dice.pick(numbers)));
  },
];

function insertToken(input: Uint8Array, dice: Dice, { tokens }: Material): Uint8Array {
  if (tokens.length === 0) return input;
  const at = dice.below(input.length + 1);
  return replaced(input, at, at, dice.pick(tokens));
}

/** One new input out of the corpus; the younger half is chosen more often. */
export function mutate(dice: Dice, material: Material): Uint8Array {
  const { corpus } = material;
  const half = corpus.length >> 1;
  let input = dice.chance(0.5) ? dice.pick(corpus) : corpus[half + dice.below(corpus.length - half)]!;
  const rounds = 1 + dice.below(dice.chance(0.5) ? 2 : 8);
  for (let round = 0; round < rounds; round++) input = dice.pick(mutations)(input, dice, material);
  return input.subarray(0, material.maxLength);
}
