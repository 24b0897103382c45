// Messages between the master and its pillar workers. Values are packed: cloning would lose prototypes and floats.
import { packValue, unpackValue } from '../../base/codec/msgpack/index.ts';
import { asDict, dictEntries, isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { LogLevel } from '../../extend/sdk/exec.ts';
import type { PillarRequest } from './types.ts';

export type WorkKind = 'compile' | 'top' | 'explain' | 'update';

export type ToWorker =
  | { readonly t: 'work'; readonly n: number; readonly kind: WorkKind; readonly body: Uint8Array }
  | { readonly t: 'abort'; readonly n: number };

export type FromWorker =
  | { readonly t: 'done'; readonly n: number; readonly body: Uint8Array }
  | { readonly t: 'failed'; readonly n: number; readonly message: string }
  | { readonly t: 'log'; readonly level: LogLevel; readonly text: string; readonly fields: Record<string, unknown> };

/** A request with the additional data of a kind of work (`key` of explain). */
export function packRequest(request: PillarRequest, extra: PlainDict = newDict()): Uint8Array {
  const { minionId, grains, saltenv, pillarenv, override, ext, extraMinionData } = request;
  const fields: [string, Value | undefined][] = [
    ...Object.entries({ minionId, grains, saltenv, pillarenv, override, ext, extraMinionData }),
    ...Object.entries(extra),
  ];
  return packValue(newDict(fields.filter((field): field is [string, Value] => field[1] !== undefined)));
}

export function unpackRequest(body: Uint8Array): { request: PillarRequest; extra: PlainDict } {
  const fields = newDict();
  const value = unpackValue(body);
  if (isDict(value)) for (const [key, item] of dictEntries(value)) fields[String(key)] = item;
  const grains = fields['grains'];
  const request: PillarRequest = {
    minionId: String(fields['minionId']),
    grains: asDict(grains) ?? newDict(),
    saltenv: fields['saltenv'] === undefined ? undefined : String(fields['saltenv']),
    pillarenv: fields['pillarenv'] === undefined ? undefined : String(fields['pillarenv']),
    override: fields['override'],
    ext: fields['ext'],
    extraMinionData: fields['extraMinionData'],
  };
  return { request, extra: fields };
}
