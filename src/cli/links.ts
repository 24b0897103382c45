// Settings whose links to secret stores (`sdb://…` in place of values) are looked up.
import type { OpenOpts } from '../base/config/opts.ts';
import { terminal } from './io.ts';
import { loadSettings, type Settings, type SettingsRequest } from './settings.ts';

/** Loads the settings and, when they hold links, once more with what those lead to. */
export async function loadLinkedSettings<O extends OpenOpts>(request: SettingsRequest<O>): Promise<Settings<O>> {
  const first = loadSettings(request);
  const { deferred, given } = first.loaded;
  if (deferred.length === 0) return first;
  const { resolveLinks } = await import('../engine/exec/sdb-links.ts');
  const quiet = (): void => undefined;
  const error = (message: string): void => (request.io ?? terminal).err(`[ERROR   ] ${message}\n`);
  const log = { debug: quiet, info: quiet, warn: quiet, error };
  const found = await resolveLinks(given, deferred, first.opts.raw, log);
  return loadSettings({ ...request, overrides: { ...found, ...request.overrides }, quiet: true });
}
