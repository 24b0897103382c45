// Where the value of each option comes from: a file and its line, the default, or the machine.
import { readFileSync } from 'node:fs';
import { normalize } from 'node:path';
import { dictKeys, isDict, type Value } from '../../../base/codec/value.ts';
import { loadYamlWithPositions } from '../../../base/codec/yaml/index.ts';
import type { OptionRow } from '../../../base/config/options/row.ts';
import type { OpenOpts } from '../../../base/config/opts.ts';
import type { LoadedConfig } from '../../../base/config/request.ts';

export interface FileLine {
  readonly file: string;
  readonly line: number;
}

/** `computed`: from this machine, the environment, or other options (`root_dir` moves paths). */
export type Origin = 'file' | 'default' | 'computed' | 'unset';

export interface OptionOrigin {
  readonly daemon: string;
  readonly option: string;
  /** Undefined when nothing sets it and there is no default. */
  readonly value: Value | undefined;
  readonly origin: Origin;
  /** Every place that sets it; the last one counts, apart from maps, which files join. */
  readonly places: readonly FileLine[];
  readonly default: Value | undefined;
  readonly known: boolean;
  /** What is wrong with it: a type that does not fit, a name that nothing knows. */
  readonly problem?: string;
}

export class Origins {
  readonly #daemon: string;
  readonly #loaded: LoadedConfig<OpenOpts>;
  readonly #rows: ReadonlyMap<string, OptionRow>;
  readonly #places: ReadonlyMap<string, readonly FileLine[]>;

  constructor(daemon: string, loaded: LoadedConfig<OpenOpts>, rows: ReadonlyMap<string, OptionRow>) {
    this.#daemon = daemon;
    this.#loaded = loaded;
    this.#rows = rows;
    this.#places = placesIn(loaded.sources);
  }

  /** Options that a file sets. */
  get given(): string[] {
    return [...this.#places.keys()].sort();
  }

  /** Also those that no file sets. */
  get all(): string[] {
    return [...new Set([...this.#rows.keys(), ...this.#places.keys()])].sort();
  }

  of(option: string): OptionOrigin {
    const { opts, given, problems } = this.#loaded;
    const row = this.#rows.get(option);
    const places = this.#places.get(option) ?? [];
    const value = opts.get(option);
    const fallback = row?.default as Value | undefined;
    const problem = problems.find((each) => each.option === option)?.message;
    return {
      daemon: this.#daemon,
      option,
      value,
      // A value of a wrong type is refused: the file sets it, and the default counts.
      origin: originOf(places.length > 0 && Object.hasOwn(given, option), value, fallback),
      places,
      default: fallback,
      known: row !== undefined,
      ...(problem === undefined ? {} : { problem }),
    };
  }
}

function originOf(byFile: boolean, value: Value | undefined, fallback: Value | undefined): Origin {
  if (byFile) return 'file';
  if (value === undefined) return 'unset';
  return JSON.stringify(value) === JSON.stringify(fallback) ? 'default' : 'computed';
}

/** In the order in which the files were read, which is the order in which they count. */
function placesIn(files: readonly string[]): Map<string, FileLine[]> {
  const places = new Map<string, FileLine[]>();
  for (const file of files) {
    const { value, positions } = loadYamlWithPositions(readFileSync(file, 'utf8'), { name: file });
    if (!isDict(value)) continue;
    for (const key of dictKeys(value)) {
      const name = String(key);
      places.set(name, [...(places.get(name) ?? []), { file: normalize(file), line: positions.lineOf([key]) ?? 1 }]);
    }
  }
  return places;
}
