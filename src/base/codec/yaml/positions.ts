// The line from which a value was read: a side table from containers and keys to positions in the source.
import { type Dict, dictGet, isDict, type Value } from '../value.ts';
import type { YamlSource } from './source.ts';

type Container = Dict | Value[];

export class PositionRecorder {
  readonly #places = new Map<Container, Map<Value, number>>();

  record(container: Container, key: Value, pos: number): void {
    let keys = this.#places.get(container);
    if (keys === undefined) {
      keys = new Map();
      this.#places.set(container, keys);
    }
    keys.set(key, pos);
  }

  get(container: Container, key: Value): number | undefined {
    return this.#places.get(container)?.get(key);
  }
}

/** Lines (from 1) of keys and list items. Values that came through an alias or a merge have the line of their origin. */
export class YamlPositions {
  readonly #recorder: PositionRecorder;
  readonly #source: YamlSource;
  readonly #root: Value;

  constructor(recorder: PositionRecorder, source: YamlSource, root: Value) {
    this.#recorder = recorder;
    this.#source = source;
    this.#root = root;
  }

  /** The line of a key or list index of a container of the loaded value. */
  lineIn(container: Container, key: Value): number | undefined {
    const pos = this.#recorder.get(container, key);
    return pos === undefined ? undefined : this.#source.lineOf(pos);
  }

  /** The line of the value at a path of keys and list indexes; undefined when there is none. */
  lineOf(path: readonly Value[]): number | undefined {
    let current: Value | undefined = this.#root;
    let line: number | undefined;
    for (const key of path) {
      if (Array.isArray(current)) {
        line = this.lineIn(current, key);
        current = typeof key === 'number' ? current[key] : undefined;
      } else if (isDict(current)) {
        line = this.lineIn(current, key);
        current = dictGet(current, key);
      } else return undefined;
      if (line === undefined) return undefined;
    }
    return line;
  }
}
