// Checks that an extension file exports what its kind needs, before it is called.
import type { ExtensionKinds, Kind } from './kinds.ts';

const mainFunction: Partial<Record<Kind, string>> = {
  grains: 'collect',
  outputters: 'render',
  renderers: 'render',
  pillars: 'compile',
  returners: 'open',
  tops: 'assign',
  beacons: 'open',
  sdb: 'get',
  auth: 'open',
  rosters: 'targets',
  engines: 'start',
  proxies: 'open',
  executors: 'execute',
};

/** undefined when valid, else the problem. */
export function problemWith(kind: Kind, candidate: unknown): string | undefined {
  if (candidate === null || typeof candidate !== 'object') return 'the default export is not an extension';
  const object = candidate as Record<string, unknown>;
  if (object['kind'] !== kind) return `it defines "${String(object['kind'])}" but is in the folder of ${kind}`;
  if (typeof object['name'] !== 'string' || !object['name']) return 'it has no name';
  const main = mainFunction[kind];
  if (main) return typeof object[main] === 'function' ? undefined : `${main} is not a function`;
  if (kind === 'serializers') {
    const usable = ['serialize', 'deserialize'].some((direction) => typeof object[direction] === 'function');
    return usable ? undefined : 'it has neither serialize nor deserialize';
  }
  const functions = object['functions'];
  if (functions === null || typeof functions !== 'object') return 'it has no functions';
  for (const [name, value] of Object.entries(functions)) {
    const run = (value as { run?: unknown } | null)?.run;
    if (typeof run !== 'function') return `function ${name} was not made by fn(…)`;
  }
  return undefined;
}

export function isExtension<K extends Kind>(kind: K, candidate: unknown): candidate is ExtensionKinds[K] {
  return problemWith(kind, candidate) === undefined;
}
