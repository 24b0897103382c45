// A value that is already JSON text: what the job store holds as JSON reaches the reader that prints it without being
// parsed in between.
import { newDict, type Value } from '../value.ts';
import { parsePlain, parseValue } from './parse.ts';

export interface JsonTextFacts {
  /** Number of entries when the value is a map or a list. */
  readonly entries?: number;
  /** The result of `isPlainJson` for the value. */
  readonly plain?: boolean;
  /**
   * The value represents `{outputter: …, data: <the text>}`, the form in which runners return data with its outputter.
   */
  readonly outputter?: string;
}

export class JsonText {
  /** The text in UTF-8, in one or several chunks; only characters that need it are escaped. */
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

  /** The value of the text without the outputter. */
  data(): Value {
    return this.facts.plain ? parsePlain(this.text) : parseValue(this.text);
  }

  /** The value that this object represents. */
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

/** The value, parsed if it is still JSON text. */
export const readValue = (value: Value | JsonText): Value => (value instanceof JsonText ? value.value() : value);
