// A value that is written already: what a store keeps as JSON travels to whoever shows it without being read on the way.
import { newDict, type Value } from '../value.ts';
import { parsePlain, parseValue } from './parse.ts';

export interface JsonTextFacts {
  /** Entries of the map or list it is. */
  readonly entries?: number;
  /** `isPlainJson` is true of the value. */
  readonly plain?: boolean;
  /** The value stands for `{outputter: …, data: <the text>}`, as runners answer when a form goes with the data. */
  readonly outputter?: string;
}

export class JsonText {
  /** The text in UTF-8, in one piece or several, with nothing escaped that need not be. */
  readonly pieces: readonly Uint8Array[];
  readonly facts: JsonTextFacts;
  constructor(pieces: readonly Uint8Array[], facts: JsonTextFacts) {
    this.pieces = pieces;
    this.facts = facts;
  }

  get length(): number {
    return this.pieces.reduce((sum, piece) => sum + piece.length, 0);
  }

  get bytes(): Uint8Array {
    return this.pieces.length === 1 ? (this.pieces[0] as Uint8Array) : Buffer.concat(this.pieces);
  }

  get text(): string {
    const { buffer, byteOffset, length } = this.bytes;
    return Buffer.from(buffer, byteOffset, length).toString();
  }

  /** The value of the text alone. */
  data(): Value {
    return this.facts.plain ? parsePlain(this.text) : parseValue(this.text);
  }

  /** What it stands for. */
  value(): Value {
    const { outputter } = this.facts;
    const data = this.data();
    return outputter === undefined
      ? data
      : newDict([
          ['outputter', outputter],
          ['data', data],
        ]);
  }

  withOutputter(outputter: string | null | undefined): JsonText {
    return outputter ? new JsonText(this.pieces, { ...this.facts, outputter }) : this;
  }
}

/** The value, whether it was written already or not. */
export const readValue = (value: Value | JsonText): Value => (value instanceof JsonText ? value.value() : value);
