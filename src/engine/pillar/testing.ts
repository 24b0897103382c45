// For tests: a pillar tree in a temporary folder, compiled as by a master.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Dict, dictOf, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { compilePillar } from './compile.ts';
import { explainPillar } from './explain.ts';
import { createProcessHost } from './process-host.ts';
import type { PillarRequest } from './types.ts';

export class PillarTree {
  readonly root = mkdtempSync(join(tmpdir(), 'halite-pillar-'));
  readonly logged: string[] = [];
  /** Options over the defaults; `<ROOT>` is replaced by the folder. */
  opts: PlainDict = newDict();

  /** Files below the folder; `<ROOT>` in names is not replaced. */
  write(files: Readonly<Record<string, string | Buffer>>): this {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(this.root, name)), { recursive: true });
      writeFileSync(join(this.root, name), content);
    }
    return this;
  }

  allOpts(): PlainDict {
    const { root } = this;
    return newDict([
      ['id', 'master'],
      ['renderer', 'jinja|yaml'],
      ['state_top', 'top.sls'],
      ['cachedir', join(root, 'cache')],
      ['conf_file', join(root, 'etc/master')],
      ['pillar_roots', newDict([['base', [join(root, 'pillar')]]])],
      ['file_roots', newDict([['base', [join(root, 'salt')]]])],
      ['decrypt_pillar_delimiter', ':'],
      ['decrypt_pillar_default', 'gpg'],
      ['decrypt_pillar_renderers', ['gpg']],
      ...Object.entries(expand(this.opts, root) as PlainDict),
    ]);
  }

  request(request: Partial<PillarRequest> = {}): PillarRequest {
    const minionId = request.minionId ?? 'web1.example.com';
    return { ...request, minionId, grains: request.grains ?? dictOf([['id', minionId]]) };
  }

  compile(request?: Partial<PillarRequest>): Promise<Dict> {
    const opts = this.allOpts();
    return compilePillar(createProcessHost(opts, this.#log()).host(), opts, this.request(request));
  }

  explain(key: string, request?: Partial<PillarRequest>): Promise<Value> {
    const opts = this.allOpts();
    return explainPillar(createProcessHost(opts, this.#log()).host(), opts, this.request(request), key, ':');
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  #log() {
    const note = (text: string, fields: Readonly<Record<string, unknown>> = {}): void => {
      this.logged.push(`${text} ${JSON.stringify(fields)}`);
    };
    return { debug: () => undefined, info: note, warn: note, error: note };
  }
}

/** A value with `<ROOT>` replaced. */
export function expand(value: Value, root: string): Value {
  if (typeof value === 'string') return value.replaceAll('<ROOT>', root);
  if (Array.isArray(value)) return value.map((item) => expand(item, root));
  if (value === null || typeof value !== 'object' || value instanceof Map || Object.getPrototypeOf(value) !== null)
    return value;
  return newDict(
    Object.entries(value as PlainDict).map(([key, item]) => [expand(key, root) as string, expand(item, root)]),
  );
}
