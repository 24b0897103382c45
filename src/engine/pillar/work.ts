// The work of a pillar process, in a worker thread or in the program itself.
import { textField } from '../../base/codec/fields.ts';
import { dictOf, type PlainDict, type Value } from '../../base/codec/value.ts';
import { startCompilation } from './compilation.ts';
import { compilePillar } from './compile.ts';
import { explainPillar } from './explain.ts';
import { updateSources } from './ext.ts';
import type { WorkKind } from './messages.ts';
import { getTop } from './top.ts';
import type { PillarHost, PillarRequest } from './types.ts';

export async function doWork(
  kind: WorkKind,
  host: PillarHost,
  opts: Readonly<Record<string, Value>>,
  request: PillarRequest,
  extra: PlainDict,
): Promise<Value> {
  switch (kind) {
    case 'compile':
      return compilePillar(host, opts, request);
    case 'top':
      return showTop(host, opts, request);
    case 'update': {
      const wanted = { branch: textField(extra, 'branch'), repo: textField(extra, 'repo') };
      return updateSources(startCompilation(host, opts, request), String(extra['source'] ?? ''), wanted);
    }
    case 'explain':
      return explainPillar(host, opts, request, String(extra['key'] ?? ''), String(extra['delimiter'] ?? ':'));
  }
}

/** The merged top file, or the list of errors when there are any. */
async function showTop(
  host: PillarHost,
  opts: Readonly<Record<string, Value>>,
  request: PillarRequest,
): Promise<Value> {
  const compilation = startCompilation(host, opts, request);
  const { data } = await getTop(compilation);
  if (compilation.errors.list.length > 0) return [...compilation.errors.list];
  return dictOf([...data].map(([env, targets]): [Value, Value] => [env, dictOf([...targets])]));
}
