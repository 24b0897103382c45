// Whether a character is in a set. A JavaScript expression decides, once per ASCII character.

const ascii = 128;
const [NO, YES] = [1, 2] as const;
const plainMember = /^(?:[A-Za-z0-9 _]|\\u\{([0-9a-f]+)\})$/;

export class CharacterSet {
  readonly #source: string;
  readonly #flags: string;
  readonly #known = new Uint8Array(ascii);
  /** Set when the set is exactly one character. */
  readonly #only: number | undefined;
  #expression: RegExp | undefined;

  constructor(source: string, ignoreCase: boolean) {
    this.#source = source;
    this.#flags = ignoreCase ? 'vi' : 'v';
    const plain = ignoreCase ? null : plainMember.exec(source);
    if (plain) this.#only = plain[1] === undefined ? source.charCodeAt(0) : Number.parseInt(plain[1], 16);
  }

  has(code: number): boolean {
    if (this.#only !== undefined) return code === this.#only;
    if (code >= ascii) return this.#test(code);
    let known = this.#known[code] as number;
    if (known === 0) this.#known[code] = known = this.#test(code) ? YES : NO;
    return known === YES;
  }

  #test(code: number): boolean {
    this.#expression ??= new RegExp(`^${this.#source}$`, this.#flags);
    return this.#expression.test(String.fromCodePoint(code));
  }
}
