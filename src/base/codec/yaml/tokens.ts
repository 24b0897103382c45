// Tokens that the scanner passes to the parser.

export const T = {
  streamStart: 0,
  streamEnd: 1,
  versionDirective: 2,
  tagDirective: 3,
  documentStart: 4,
  documentEnd: 5,
  blockSequenceStart: 6,
  blockMappingStart: 7,
  blockEnd: 8,
  flowSequenceStart: 9,
  flowSequenceEnd: 10,
  flowMappingStart: 11,
  flowMappingEnd: 12,
  blockEntry: 13,
  flowEntry: 14,
  key: 15,
  value: 16,
  alias: 17,
  anchor: 18,
  tag: 19,
  scalar: 20,
} as const;

export type TokenType = (typeof T)[keyof typeof T];

export class Token {
  readonly type: TokenType;
  readonly start: number;
  readonly end: number;
  /** Scalar text, anchor name, tag handle or major version. */
  readonly value: string;
  /** Tag suffix or prefix, or minor version. */
  readonly suffix: string;
  /** A scalar without quotes and without `|` or `>`: only these are resolved to other types. */
  readonly plain: boolean;

  constructor(type: TokenType, start: number, end: number, value = '', suffix = '', plain = false) {
    this.type = type;
    this.start = start;
    this.end = end;
    this.value = value;
    this.suffix = suffix;
    this.plain = plain;
  }
}

/** A token that only occurs before a document. */
export const startsDocument = (token: Token): boolean =>
  token.type === T.versionDirective || token.type === T.tagDirective || token.type === T.documentStart;

/** A token after which an expected block key or value is absent. */
export const endsBlockValue = (type: number): boolean => type === T.key || type === T.value || type === T.blockEnd;

/** A token after which an expected flow value is absent. */
export const endsFlowValue = (type: number): boolean => type === T.flowEntry || type === T.flowMappingEnd;
