// The folders of this master that can be exchanged: those of `file_roots` and `pillar_roots`.
import { asDict, dictEntries, isTexts, type PlainDict } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';

export type RootKind = 'files' | 'pillar';
export const rootKinds: readonly RootKind[] = ['files', 'pillar'];
export const optionOf: Readonly<Record<RootKind, string>> = { files: 'file_roots', pillar: 'pillar_roots' };

export type Environments = ReadonlyMap<string, readonly string[]>;

/** Stands for every name that is not listed: no single folder. */
const anyEnvironment = '__env__';

export function environmentsOf(raw: PlainDict, kind: RootKind): Environments {
  const found = new Map<string, readonly string[]>();
  for (const [env, folders] of dictEntries(asDict(raw[optionOf[kind]] ?? null) ?? {})) {
    if (typeof env === 'string' && isTexts(folders)) found.set(env, folders);
  }
  return found;
}

/** The nth folder of an environment; `count` is how many the other master has. */
export function rootAt(raw: PlainDict, kind: RootKind, env: string, index: number, count: number): string {
  const option = optionOf[kind];
  const folders = environmentsOf(raw, kind).get(env);
  if (!folders) throw refused(`${option} has no environment ${env}`, 'Make the options of both masters equal.');
  if (folders.length !== count)
    throw refused(
      `${option} has ${folders.length} folders for ${env}, the other master ${count}`,
      'Make the options of both masters equal.',
    );
  const folder = folders[index];
  if (folder === undefined || !isPlain(folder)) throw refused(`${option} of ${env} names no plain folder`);
  return folder;
}

export const isPlain = (folder: string): boolean =>
  folder.startsWith('/') && folder !== '/' && !folder.includes(anyEnvironment) && !/[*?[]/.test(folder);

const refused = (text: string, hint?: string): HaliteError =>
  new HaliteError('cluster.refused', text, hint === undefined ? {} : { hint });
