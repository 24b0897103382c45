// The event parser: tokens to a stream of events. The fields of the parser hold the current event.
import { E, type EventType } from './events.ts';
import type { Scanner } from './scanner.ts';
import type { YamlSource } from './source.ts';
import { endsBlockValue, endsFlowValue, startsDocument, T, type Token } from './tokens.ts';

type State = () => void;

export class EventParser {
  readonly source: YamlSource;
  type: EventType = E.streamStart;
  anchor: string | undefined;
  /** The full tag; undefined when none was written. */
  tag: string | undefined;
  value = '';
  /** A scalar whose type follows from its text. */
  plainImplicit = false;
  start = 0;
  readonly #scanner: Scanner;
  #state: State;
  readonly #states: State[] = [];
  /** Where the open collections begin, for error messages. */
  readonly #marks: number[] = [];
  #tagPrefixes = new Map<string, string>();

  constructor(source: YamlSource, scanner: Scanner) {
    this.source = source;
    this.#scanner = scanner;
    this.#state = this.#streamStart;
  }

  /** Moves to the next event. */
  next(): void {
    this.#state();
  }

  #pop(): void {
    this.#state = this.#states.pop() ?? this.#end;
  }

  #emit(type: EventType, start: number): void {
    this.type = type;
    this.start = start;
    this.anchor = undefined;
    this.tag = undefined;
  }

  #emptyScalar(pos: number): void {
    this.#emit(E.scalar, pos);
    this.value = '';
    this.plainImplicit = true;
  }

  #fail(problem: string, pos: number, context?: string, contextPos?: number): never {
    return this.source.fail('ParserError', problem, pos, context, contextPos);
  }

  #streamStart = (): void => {
    this.#emit(E.streamStart, this.#scanner.peek().start);
    this.#scanner.skip();
    this.#state = this.#implicitDocument;
  };

  #end = (): void => this.#emit(E.streamEnd, this.source.text.length);

  /** The first document needs no `---`. */
  #implicitDocument = (): void => {
    const token = this.#scanner.peek();
    if (!startsDocument(token) && token.type !== T.streamEnd) {
      this.#readDirectives();
      this.#states.push(this.#documentEnd);
      this.#state = this.#blockNode;
      this.#emit(E.documentStart, token.start);
      return;
    }
    this.#explicitDocument(token);
  };

  #nextDocument = (): void => {
    while (this.#scanner.peek().type === T.documentEnd) this.#scanner.skip();
    this.#explicitDocument(this.#scanner.peek());
  };

  #explicitDocument(first: Token): void {
    if (first.type === T.streamEnd) {
      this.#state = this.#end;
      this.#emit(E.streamEnd, first.start);
      return;
    }
    this.#readDirectives();
    const token = this.#scanner.peek();
    if (token.type !== T.documentStart) this.#fail('did not find expected <document start>', token.start);
    this.#states.push(this.#documentEnd);
    this.#state = this.#documentContent;
    this.#emit(E.documentStart, first.start);
    this.#scanner.skip();
  }

  #documentContent = (): void => {
    const token = this.#scanner.peek();
    if (startsDocument(token) || token.type === T.documentEnd || token.type === T.streamEnd) {
      this.#pop();
      this.#emptyScalar(token.start);
    } else this.#node(true, false);
  };

  #documentEnd = (): void => {
    const token = this.#scanner.peek();
    this.#emit(E.documentEnd, token.start);
    if (token.type === T.documentEnd) this.#scanner.skip();
    this.#tagPrefixes = new Map();
    this.#state = this.#nextDocument;
  };

  #readDirectives(): void {
    const scanner = this.#scanner;
    let versionSeen = false;
    for (let token = scanner.peek(); ; token = scanner.peek()) {
      if (token.type === T.versionDirective) {
        if (versionSeen) this.#fail('found duplicate %YAML directive', token.start);
        // Both versions are read by the rules of 1.1.
        if (token.value !== '1' || (token.suffix !== '1' && token.suffix !== '2')) {
          this.#fail('found incompatible YAML document', token.start);
        }
        versionSeen = true;
      } else if (token.type === T.tagDirective) {
        if (this.#tagPrefixes.has(token.value)) this.#fail('found duplicate %TAG directive', token.start);
        this.#tagPrefixes.set(token.value, token.suffix);
      } else break;
      scanner.skip();
    }
    if (!this.#tagPrefixes.has('!')) this.#tagPrefixes.set('!', '!');
    if (!this.#tagPrefixes.has('!!')) this.#tagPrefixes.set('!!', 'tag:yaml.org,2002:');
  }

  #blockNode = (): void => this.#node(true, false);

  /** A node with its anchor and tag; `indentless`: a list may stand at the column of its key. */
  #node(block: boolean, indentless: boolean): void {
    const scanner = this.#scanner;
    let token = scanner.peek();
    if (token.type === T.alias) {
      this.#pop();
      this.#emit(E.alias, token.start);
      this.anchor = token.value;
      scanner.skip();
      return;
    }
    const start = token.start;
    let anchor: string | undefined;
    let tagToken: Token | undefined;
    for (let i = 0; i < 2; i++) {
      if (token.type === T.anchor && anchor === undefined) anchor = token.value;
      else if (token.type === T.tag && tagToken === undefined) tagToken = token;
      else break;
      scanner.skip();
      token = scanner.peek();
    }
    const tag = tagToken && this.#fullTag(tagToken, start);
    this.#content(token, block, indentless, tag !== undefined || anchor !== undefined, start);
    this.start = start;
    this.anchor = anchor;
    this.tag = tag;
    if (this.type !== E.scalar) return;
    // A lone `!` means "resolve as if untagged", even for quoted text; on nothing at all it means an empty string.
    if (tag === '!') this.plainImplicit = token.type === T.scalar;
    else if (tag !== undefined && tag !== '') this.plainImplicit = false;
  }

  #fullTag(token: Token, start: number): string {
    if (token.value === '') return token.suffix;
    const prefix = this.#tagPrefixes.get(token.value);
    if (prefix === undefined) {
      this.#fail('found undefined tag handle', token.start, 'while parsing a node', start);
    }
    return prefix + token.suffix;
  }

  #content(token: Token, block: boolean, indentless: boolean, hasProperties: boolean, start: number): void {
    if (token.type === T.scalar) {
      this.#pop();
      this.#emit(E.scalar, token.start);
      this.value = token.value;
      this.plainImplicit = token.plain;
      this.#scanner.skip();
    } else if (indentless && token.type === T.blockEntry) {
      this.#state = this.#indentlessSequenceEntry;
      this.#emit(E.sequenceStart, token.start);
    } else if (token.type === T.flowSequenceStart) {
      this.#open(E.sequenceStart, this.#flowSequenceFirst, token);
    } else if (token.type === T.flowMappingStart) {
      this.#open(E.mappingStart, this.#flowMappingFirst, token);
    } else if (block && token.type === T.blockSequenceStart) {
      this.#open(E.sequenceStart, this.#blockSequenceEntry, token);
    } else if (block && token.type === T.blockMappingStart) {
      this.#open(E.mappingStart, this.#blockMappingKey, token);
    } else if (hasProperties) {
      this.#pop();
      this.#emptyScalar(token.start);
    } else {
      const context = block ? 'while parsing a block node' : 'while parsing a flow node';
      this.#fail('did not find expected node content', token.start, context, start);
    }
  }

  #open(type: EventType, state: State, token: Token): void {
    this.#emit(type, token.start);
    this.#marks.push(token.start);
    this.#scanner.skip();
    this.#state = state;
  }

  #close(type: EventType, token: Token): void {
    this.#pop();
    this.#marks.pop();
    this.#emit(type, token.start);
    this.#scanner.skip();
  }

  #blockSequenceEntry = (): void => {
    const token = this.#scanner.peek();
    if (token.type === T.blockEntry) {
      this.#scanner.skip();
      const next = this.#scanner.peek().type;
      if (next === T.blockEntry || next === T.blockEnd) this.#emptyScalar(token.end);
      else {
        this.#states.push(this.#blockSequenceEntry);
        this.#node(true, false);
      }
    } else if (token.type === T.blockEnd) this.#close(E.sequenceEnd, token);
    else this.#failIn('a block collection', "did not find expected '-' indicator", token);
  };

  #indentlessSequenceEntry = (): void => {
    const token = this.#scanner.peek();
    if (token.type !== T.blockEntry) {
      this.#pop();
      this.#emit(E.sequenceEnd, token.start);
      return;
    }
    this.#scanner.skip();
    const next = this.#scanner.peek().type;
    if (next === T.blockEntry || endsBlockValue(next)) {
      this.#state = this.#indentlessSequenceEntry;
      this.#emptyScalar(token.end);
    } else {
      this.#states.push(this.#indentlessSequenceEntry);
      this.#node(true, false);
    }
  };

  #blockMappingKey = (): void => {
    const token = this.#scanner.peek();
    if (token.type === T.key) {
      this.#scanner.skip();
      if (endsBlockValue(this.#scanner.peek().type)) {
        this.#state = this.#blockMappingValue;
        this.#emptyScalar(token.end);
      } else {
        this.#states.push(this.#blockMappingValue);
        this.#node(true, true);
      }
    } else if (token.type === T.blockEnd) this.#close(E.mappingEnd, token);
    else this.#failIn('a block mapping', 'did not find expected key', token);
  };

  #blockMappingValue = (): void => {
    const token = this.#scanner.peek();
    if (token.type !== T.value) {
      this.#state = this.#blockMappingKey;
      this.#emptyScalar(token.start);
      return;
    }
    this.#scanner.skip();
    if (endsBlockValue(this.#scanner.peek().type)) {
      this.#state = this.#blockMappingKey;
      this.#emptyScalar(token.end);
    } else {
      this.#states.push(this.#blockMappingKey);
      this.#node(true, true);
    }
  };

  #failIn(collection: string, problem: string, token: Token): never {
    return this.#fail(problem, token.start, `while parsing ${collection}`, this.#marks.pop());
  }

  #flowSequenceFirst = (): void => this.#flowSequenceEntry(true);
  #flowSequenceNext = (): void => this.#flowSequenceEntry(false);

  #flowSequenceEntry(first: boolean): void {
    let token = this.#scanner.peek();
    if (token.type !== T.flowSequenceEnd) {
      if (!first) {
        if (token.type !== T.flowEntry) this.#failIn('a flow sequence', "did not find expected ',' or ']'", token);
        this.#scanner.skip();
        token = this.#scanner.peek();
      }
      if (token.type === T.key) {
        // `[a: b]` holds a mapping of one pair.
        this.#state = this.#pairKey;
        this.#emit(E.mappingStart, token.start);
        this.#scanner.skip();
        return;
      }
      if (token.type !== T.flowSequenceEnd) {
        this.#states.push(this.#flowSequenceNext);
        this.#node(false, false);
        return;
      }
    }
    this.#close(E.sequenceEnd, token);
  }

  #pairKey = (): void => {
    const token = this.#scanner.peek();
    if (token.type !== T.value && token.type !== T.flowEntry && token.type !== T.flowSequenceEnd) {
      this.#states.push(this.#pairValue);
      this.#node(false, false);
      return;
    }
    // libyaml 0.2.5 drops this token, even a `]`; the documents it then refuses must be refused here too.
    this.#scanner.skip();
    this.#state = this.#pairValue;
    this.#emptyScalar(token.end);
  };

  #pairValue = (): void => {
    let token = this.#scanner.peek();
    if (token.type === T.value) {
      this.#scanner.skip();
      token = this.#scanner.peek();
      if (token.type !== T.flowEntry && token.type !== T.flowSequenceEnd) {
        this.#states.push(this.#pairEnd);
        this.#node(false, false);
        return;
      }
    }
    this.#state = this.#pairEnd;
    this.#emptyScalar(token.start);
  };

  #pairEnd = (): void => {
    this.#state = this.#flowSequenceNext;
    this.#emit(E.mappingEnd, this.#scanner.peek().start);
  };

  #flowMappingFirst = (): void => this.#flowMappingKey(true);
  #flowMappingNext = (): void => this.#flowMappingKey(false);

  #flowMappingKey(first: boolean): void {
    let token = this.#scanner.peek();
    if (token.type !== T.flowMappingEnd) {
      if (!first) {
        if (token.type !== T.flowEntry) this.#failIn('a flow mapping', "did not find expected ',' or '}'", token);
        this.#scanner.skip();
        token = this.#scanner.peek();
      }
      if (token.type === T.key) {
        this.#scanner.skip();
        token = this.#scanner.peek();
        if (token.type === T.value || endsFlowValue(token.type)) {
          this.#state = this.#flowMappingValue;
          this.#emptyScalar(token.start);
        } else {
          this.#states.push(this.#flowMappingValue);
          this.#node(false, false);
        }
        return;
      }
      if (token.type !== T.flowMappingEnd) {
        this.#states.push(this.#flowMappingNoValue);
        this.#node(false, false);
        return;
      }
    }
    this.#close(E.mappingEnd, token);
  }

  #flowMappingNoValue = (): void => {
    this.#state = this.#flowMappingNext;
    this.#emptyScalar(this.#scanner.peek().start);
  };

  #flowMappingValue = (): void => {
    let token = this.#scanner.peek();
    if (token.type === T.value) {
      this.#scanner.skip();
      token = this.#scanner.peek();
      if (!endsFlowValue(token.type)) {
        this.#states.push(this.#flowMappingNext);
        this.#node(false, false);
        return;
      }
    }
    this.#state = this.#flowMappingNext;
    this.#emptyScalar(token.start);
  };
}
