// Which reaction files belong to which events: the option `reactor`, or a file it names, and changes while the master
// runs.
import { readFileSync, statSync } from 'node:fs';
import { asList, dictEntries, isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { loadYaml } from '../../base/codec/yaml/index.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import { globMatcher, type Matcher } from '../../base/util/fnmatch.ts';

interface Rule {
  /** As written; `list` shows it. */
  readonly entry: PlainDict;
  readonly tag: string;
  readonly matches: Matcher;
  readonly files: readonly string[];
}

/** How often a file of rules is checked for changes. */
const lookEveryMs = 1000;

export class Rules {
  readonly #path: string | undefined;
  readonly #complain: (text: string) => void;
  #rules: Rule[] = [];
  #version = '';
  #looked = 0;

  /** `given` is the option: a list of one-entry maps, or the path of a file that contains such a list. */
  constructor(given: Value, complain: (text: string) => void) {
    this.#complain = complain;
    if (typeof given === 'string') {
      this.#path = given;
      this.#follow();
    } else this.#rules = this.#read(given, 'The option reactor');
  }

  get empty(): boolean {
    return this.#path === undefined && this.#rules.length === 0;
  }

  /** The files to render for an event, in the order of the rules. */
  filesFor(tag: string): string[] {
    this.#follow();
    const files: string[] = [];
    for (const rule of this.#rules) if (rule.matches(tag)) files.push(...rule.files);
    return files;
  }

  list(): Value[] {
    this.#follow();
    return this.#rules.map(({ entry }) => entry);
  }

  /** False when the tag has a rule already. */
  add(tag: string, files: readonly string[]): boolean {
    if (this.#has(tag)) return false;
    this.#rules = [...this.#rules, ...this.#read([newDict([[tag, [...files]]])], 'The new reactor')];
    return true;
  }

  delete(tag: string): boolean {
    const at = this.#rules.findIndex((rule) => rule.tag === tag);
    if (at < 0) return false;
    this.#rules = this.#rules.toSpliced(at, 1);
    return true;
  }

  #has(tag: string): boolean {
    return this.#rules.some((rule) => rule.tag === tag);
  }

  /** Rules in a file apply from the moment it is saved; a file that cannot be read leaves them unchanged. */
  #follow(): void {
    if (this.#path === undefined || Date.now() - this.#looked < lookEveryMs) return;
    this.#looked = Date.now();
    try {
      const { mtimeMs, size, ino } = statSync(this.#path);
      const version = `${mtimeMs} ${size} ${ino}`;
      if (version === this.#version) return;
      this.#version = version;
      this.#rules = this.#read(loadYaml(readFileSync(this.#path, 'utf8')), `The file ${this.#path}`);
    } catch (error) {
      this.#complain(`The reactors of ${this.#path} cannot be read: ${messageOf(error)}`);
    }
  }

  #read(given: Value, where: string): Rule[] {
    if (given === null) return [];
    if (!Array.isArray(given)) {
      this.#complain(
        `${where} is not a list: write "- 'tag/of/events/*': [/srv/reactor/file.sls]" for each kind of event`,
      );
      return [];
    }
    return given.flatMap((entry) => {
      try {
        return [ruleOf(entry)];
      } catch (error) {
        this.#complain(`${where} has an entry that is skipped: ${messageOf(error)}`);
        return [];
      }
    });
  }
}

function ruleOf(entry: Value): Rule {
  const parts = isDict(entry) ? dictEntries(entry) : [];
  const [first] = parts;
  if (!first || parts.length !== 1) {
    throw new HaliteError('config.value', 'each entry is one tag with the files to render for it');
  }
  const [key, files] = first;
  const tag = String(key);
  const paths = typeof files === 'string' ? [files] : (asList(files) ?? []);
  if (paths.length === 0 || paths.some((path) => typeof path !== 'string')) {
    throw new HaliteError('config.value', `the tag ${tag} needs a file or a list of files`);
  }
  return { entry: newDict([[tag, files]]), tag, matches: globMatcher(tag), files: paths as string[] };
}
