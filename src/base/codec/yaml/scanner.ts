// The scanner: text to tokens, with indentation turned into block tokens and `key:` found by looking ahead.
import { isBlankOrEnd, isBreakOrEnd } from './chars.ts';
import { scanBlockScalar } from './scan-block.ts';
import { scanPlainScalar, scanQuotedScalar } from './scan-scalars.ts';
import { ScanState } from './scan-state.ts';
import { scanAnchor, scanDirective, scanTag } from './scan-tags.ts';
import type { YamlSource } from './source.ts';
import { T, Token, type TokenType } from './tokens.ts';

/** A position that becomes a mapping key if a `:` follows on the same line within 1024 characters. */
interface SimpleKey {
  possible: boolean;
  required: boolean;
  tokenNumber: number;
  pos: number;
  column: number;
  /** Characters read so far, for the length limit. */
  index: number;
}

const keyLimit = 1024;

export class Scanner extends ScanState {
  /** A queue between two indexes; the array never shrinks, because that would allocate for every token. */
  readonly #tokens: Token[] = [];
  #head = 0;
  #tail = 0;
  /** Tokens returned so far. */
  #taken = 0;
  #available = false;
  #ended = false;
  readonly #indents: number[] = [];
  /** One slot per flow level. Slots fill from the outside in, so their places only grow. */
  readonly #keys: SimpleKey[] = [newKey()];
  /** No slot below this one can become a key: keeps the time for deep nesting linear. */
  #lowestKey = 0;

  constructor(source: YamlSource) {
    super(source);
    this.#push(new Token(T.streamStart, this.pos, this.pos));
  }

  #push(token: Token): void {
    this.#tokens[this.#tail++] = token;
  }

  peek(): Token {
    if (!this.#available) this.#fetchMore();
    return this.#tokens[this.#head] as Token;
  }

  skip(): void {
    this.#available = false;
    this.#taken++;
    this.#head++;
    if (this.#head === this.#tail) {
      this.#head = 0;
      this.#tail = 0;
    }
  }

  /** Reads on while the first token might still be a key. */
  #fetchMore(): void {
    for (;;) {
      if (this.#head < this.#tail) {
        this.#dropStaleKeys();
        const key = this.#keys[this.#lowestKey];
        if (key === undefined || !key.possible || key.tokenNumber !== this.#taken) break;
      } else if (this.#ended) break;
      this.#fetchNext();
    }
    this.#available = true;
  }

  #fetchNext(): void {
    this.#skipToToken();
    this.#dropStaleKeys();
    this.#unrollIndent(this.column);
    const c = this.at(0);
    if (this.atEnd) this.#fetchStreamEnd();
    else if (c === 37 && this.pos === this.lineStart) this.#fetchDirective();
    else if (this.atDocumentIndicator()) this.#fetchDocumentIndicator(c === 45 ? T.documentStart : T.documentEnd);
    else if (this.#fetchIndicator(c)) return;
    else if (this.#startsPlain(c)) {
      this.#saveKey();
      this.simpleKeyAllowed = false;
      this.#push(scanPlainScalar(this));
    } else this.fail('found character that cannot start any token', 'while scanning for the next token', this.pos);
  }

  /** Fetches what begins with an indicator character; false when `c` may only begin a plain scalar. */
  #fetchIndicator(c: number): boolean {
    switch (c) {
      case 91: // [
        return this.#fetchFlowStart(T.flowSequenceStart);
      case 123: // {
        return this.#fetchFlowStart(T.flowMappingStart);
      case 93: // ]
        return this.#fetchFlowEnd(T.flowSequenceEnd);
      case 125: // }
        return this.#fetchFlowEnd(T.flowMappingEnd);
      case 44: // ,
        this.#removeKey();
        this.simpleKeyAllowed = true;
        return this.#pushIndicator(T.flowEntry);
      case 45: // -
        return isBlankOrEnd(this.at(1)) && this.#fetchBlockEntry();
      case 63: // ?
        return (this.flowLevel > 0 || isBlankOrEnd(this.at(1))) && this.#fetchKey();
      case 58: // :
        return (this.flowLevel > 0 || isBlankOrEnd(this.at(1))) && this.#fetchValue();
      case 42: // *
        return this.#pushInline(() => scanAnchor(this, T.alias));
      case 38: // &
        return this.#pushInline(() => scanAnchor(this, T.anchor));
      case 33: // !
        return this.#pushInline(() => scanTag(this));
      case 39: // '
        return this.#pushInline(() => scanQuotedScalar(this, true));
      case 34: // "
        return this.#pushInline(() => scanQuotedScalar(this, false));
      case 124: // |
      case 62: // >
        if (this.flowLevel > 0) return false;
        this.#removeKey();
        this.simpleKeyAllowed = true;
        this.#push(scanBlockScalar(this, c === 124));
        return true;
      default:
        return false;
    }
  }

  #startsPlain(c: number): boolean {
    // A tab at this position is one where indentation is expected.
    if (isBlankOrEnd(c)) return false;
    switch (c) {
      case 45: // -
        return true;
      case 63: // ?
      case 58: // :
        return this.flowLevel === 0;
      case 35: // #
      case 37: // %
      case 62: // >
      case 64: // @
      case 96: // `
      case 124: // |
        return false;
      default:
        return true;
    }
  }

  /** An anchor, alias, tag or quoted scalar: each may begin a key, and none may follow on directly. */
  #pushInline(scan: () => Token): true {
    this.#saveKey();
    this.simpleKeyAllowed = false;
    this.#push(scan());
    return true;
  }

  #pushIndicator(type: TokenType): true {
    const start = this.pos;
    this.pos++;
    this.#push(new Token(type, start, this.pos));
    return true;
  }

  #fetchStreamEnd(): void {
    if (this.column !== 0) {
      this.pos = this.text.length + 1;
      this.lineStart = this.pos;
      this.lineAstral = 0;
    }
    this.#resetBlock();
    this.#push(new Token(T.streamEnd, this.pos, this.pos));
    this.#ended = true;
  }

  #fetchDirective(): void {
    this.#resetBlock();
    this.#push(scanDirective(this));
  }

  #fetchDocumentIndicator(type: TokenType): void {
    this.#resetBlock();
    const start = this.pos;
    this.pos += 3;
    this.#push(new Token(type, start, this.pos));
  }

  #resetBlock(): void {
    this.#unrollIndent(-1);
    this.#removeKey();
    this.simpleKeyAllowed = false;
  }

  #fetchFlowStart(type: TokenType): true {
    this.#saveKey();
    this.#keys.push(newKey());
    this.flowLevel++;
    this.simpleKeyAllowed = true;
    return this.#pushIndicator(type);
  }

  #fetchFlowEnd(type: TokenType): true {
    this.#removeKey();
    if (this.flowLevel > 0) {
      this.flowLevel--;
      this.#keys.pop();
      if (this.#lowestKey > this.#keys.length) this.#lowestKey = this.#keys.length;
    }
    this.simpleKeyAllowed = false;
    return this.#pushIndicator(type);
  }

  #fetchBlockEntry(): true {
    // In flow context the parser reports it, because the parser knows the collection.
    if (this.flowLevel === 0) {
      if (!this.simpleKeyAllowed) this.fail('block sequence entries are not allowed in this context');
      this.#rollIndent(this.column, -1, T.blockSequenceStart, this.pos);
    }
    this.#removeKey();
    this.simpleKeyAllowed = true;
    return this.#pushIndicator(T.blockEntry);
  }

  #fetchKey(): true {
    if (this.flowLevel === 0) {
      if (!this.simpleKeyAllowed) this.fail('mapping keys are not allowed in this context');
      this.#rollIndent(this.column, -1, T.blockMappingStart, this.pos);
    }
    this.#removeKey();
    this.simpleKeyAllowed = this.flowLevel === 0;
    return this.#pushIndicator(T.key);
  }

  #fetchValue(): true {
    const key = this.#topKey();
    if (key.possible) {
      this.#insert(key.tokenNumber, new Token(T.key, key.pos, key.pos));
      this.#rollIndent(key.column, key.tokenNumber, T.blockMappingStart, key.pos);
      key.possible = false;
      this.simpleKeyAllowed = false;
    } else {
      if (this.flowLevel === 0) {
        if (!this.simpleKeyAllowed) this.fail('mapping values are not allowed in this context');
        this.#rollIndent(this.column, -1, T.blockMappingStart, this.pos);
      }
      this.simpleKeyAllowed = this.flowLevel === 0;
    }
    return this.#pushIndicator(T.value);
  }

  /** Skips blanks, comments and line breaks. Tabs count as blanks only where no indentation can be. */
  #skipToToken(): void {
    for (;;) {
      if (this.pos === this.lineStart && this.at(0) === 0xfeff) this.pos++;
      const tabs = this.flowLevel > 0 || !this.simpleKeyAllowed;
      let c = this.at(0);
      while (c === 32 || (c === 9 && tabs)) {
        this.pos++;
        c = this.at(0);
      }
      if (c === 35) {
        let to = this.pos;
        while (!isBreakOrEnd(this.text.charCodeAt(to))) to++;
        this.moveTo(to);
      }
      if (this.takeBreak() === '') return;
      if (this.flowLevel === 0) this.simpleKeyAllowed = true;
    }
  }

  #topKey(): SimpleKey {
    return this.#keys[this.#keys.length - 1] as SimpleKey;
  }

  #saveKey(): void {
    if (!this.simpleKeyAllowed) return;
    this.#removeKey();
    const key = this.#topKey();
    key.possible = true;
    key.required = this.flowLevel === 0 && this.indent === this.column;
    key.tokenNumber = this.#taken + this.#tail - this.#head;
    key.pos = this.pos;
    key.column = this.column;
    key.index = this.pos - this.astral;
    if (this.#keys.length - 1 < this.#lowestKey) this.#lowestKey = this.#keys.length - 1;
  }

  #removeKey(): void {
    const key = this.#topKey();
    if (key.possible && key.required) this.#failKey(key);
    key.possible = false;
  }

  #dropStaleKeys(): void {
    while (this.#lowestKey < this.#keys.length) {
      const key = this.#keys[this.#lowestKey] as SimpleKey;
      if (key.possible) {
        if (key.pos >= this.lineStart && key.index + keyLimit >= this.pos - this.astral) return;
        if (key.required) this.#failKey(key);
        key.possible = false;
      }
      this.#lowestKey++;
    }
  }

  #failKey(key: SimpleKey): never {
    return this.fail("could not find expected ':'", 'while scanning a simple key', key.pos);
  }

  /** Opens a block collection when the column is deeper than the indentation. */
  #rollIndent(column: number, tokenNumber: number, type: TokenType, pos: number): void {
    if (this.flowLevel > 0 || this.indent >= column) return;
    this.#indents.push(this.indent);
    this.indent = column;
    const token = new Token(type, pos, pos);
    if (tokenNumber === -1) this.#push(token);
    else this.#insert(tokenNumber, token);
  }

  #unrollIndent(column: number): void {
    if (this.flowLevel > 0) return;
    while (this.indent > column) {
      this.#push(new Token(T.blockEnd, this.pos, this.pos));
      this.indent = this.#indents.pop() ?? -1;
    }
  }

  /** Inserts a token before a pending one; the distance is bounded by the key limit. */
  #insert(tokenNumber: number, token: Token): void {
    const tokens = this.#tokens;
    const index = this.#head + tokenNumber - this.#taken;
    for (let i = this.#tail++; i > index; i--) tokens[i] = tokens[i - 1] as Token;
    tokens[index] = token;
  }
}

function newKey(): SimpleKey {
  return { possible: false, required: false, tokenNumber: 0, pos: 0, column: 0, index: 0 };
}
