// After a state: determines whether modules, grains or pillar have to be loaded again.
import { isTruthy } from '../../../base/codec/python/index.ts';
import type { PlainDict, Value } from '../../../base/codec/value.ts';
import type { Chunk } from '../data.ts';
import { isChanged } from './requisites.ts';

/** Functions that load modules, grains or pillar again. */
export interface Reloads {
  reload(what: { readonly grains?: boolean; readonly pillar?: boolean; readonly modules?: boolean }): Promise<void>;
}

/** Modules whose changes may install new software. */
const installers: ReadonlySet<Value> = new Set(['pkg', 'ports', 'pip']);

/** `reload_grains`, `reload_pillar`, `reload_modules`, and states that install software. */
export async function reloadAfter(session: Reloads, low: Chunk, result: PlainDict): Promise<void> {
  const asked = (key: string): boolean => key in low && isTruthy(low[key]!);
  const grains = asked('reload_grains');
  const pillar = asked('reload_pillar');
  const modules = isChanged(result)
    ? asked('reload_modules') || grains || pillar || mayBringModules(low)
    : asked('force_reload_modules');
  if (grains || pillar || modules) await session.reload({ grains, pillar, modules });
}

function mayBringModules(low: Chunk): boolean {
  const { state, fun, name } = low;
  if (installers.has(state ?? null)) return true;
  if (state !== 'file' || typeof name !== 'string') return false;
  if (fun === 'managed') return /\.(?:py|pyx|pyo|pyc|so|js|mjs)$/.test(name);
  return fun === 'recurse' || (fun === 'symlink' && name.includes('bin'));
}
