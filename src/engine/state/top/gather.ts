// Reads the top files: one per environment, plus the files they include.
import { isTruthy, pyStr } from '../../../base/codec/python/index.ts';
import { asList, asText, isDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import { RenderError } from '../../../extend/sdk/index.ts';
import type { AvailableStates } from '../sls/available.ts';
import { findState, type SlsRenderer, type StateFiles } from '../sources.ts';

export interface TopOptions {
  readonly files: StateFiles;
  readonly renderer: SlsRenderer;
  readonly available: AvailableStates;
  readonly opts: Readonly<Record<string, Value>>;
  /** Environments to search, in order. */
  envs(): Promise<readonly string[]>;
}

/** Environment → the top files found there. */
export type Tops = Map<string, Map<Value, Value>[]>;

/** Every top file of this minion, each as a map of environments. */
export async function gatherTops(options: TopOptions, context?: PlainDict): Promise<Tops> {
  const { opts } = options;
  const saltenv = isTruthy(opts['saltenv'] ?? null) ? pyStr(opts['saltenv']) : '';
  if (opts['top_file_merging_strategy'] === 'same' && saltenv === '' && !isTruthy(opts['default_top'] ?? null)) {
    throw new RenderError("top_file_merging_strategy set to 'same', but no default_top configuration option was set");
  }
  const only = opts['state_top_saltenv'];
  const envs = saltenv !== '' ? [saltenv] : isTruthy(only ?? null) ? [pyStr(only)] : await options.envs();
  const tops: Tops = new Map();
  for (const env of envs) tops.set(env, [await readTop(options, env, context)]);
  await addIncluded(options, tops, context);
  return tops;
}

async function readTop(
  { files, renderer, opts }: TopOptions,
  saltenv: string,
  context?: PlainDict,
): Promise<Map<Value, Value>> {
  const path = await files.cacheFile(topUrl(opts['state_top']), saltenv);
  if (!path) return new Map();
  return asTop(await renderer.render({ path, saltenv, sls: '', ...(context ? { context } : {}) }));
}

function topUrl(option: Value | undefined): string {
  const text = asText(option) || 'top.sls';
  if (text.startsWith('salt://')) return text;
  return `salt://${text.startsWith('/') ? text.slice(1) : text}`;
}

function asTop(rendered: Value): Map<Value, Value> {
  if (isDict(rendered)) return rendered instanceof Map ? new Map(rendered) : new Map(Object.entries(rendered));
  if (!isTruthy(rendered)) return new Map();
  throw new RenderError('Unable to render top file. No targets found.');
}

/** A top file may include further ones by SLS name; those do not include again. */
async function addIncluded({ files, renderer, available }: TopOptions, tops: Tops, context?: PlainDict): Promise<void> {
  for (const [saltenv, list] of [...tops]) {
    const done = new Set<string>();
    for (const top of [...list]) {
      const include = top.get('include');
      top.delete('include');
      for (const pattern of asList(include) ?? []) {
        for (const sls of await available.matching(saltenv, pyStr(pattern))) {
          if (done.has(sls)) continue;
          done.add(sls);
          const file = await findState(files, sls, saltenv);
          if (!file) continue;
          list.push(
            asTop(await renderer.render({ path: file.dest, saltenv, sls: '', ...(context ? { context } : {}) })),
          );
        }
      }
    }
  }
}
