// Settings in which references to secret stores (`sdb://…` in place of values) are resolved.
import type { OpenOpts } from '../base/config/opts.ts';
import { terminal } from './io.ts';
import { defaultValues } from './optparse.ts';
import { loadSettings, type Settings, type SettingsRequest } from './settings.ts';

/** Loads the settings and, when they contain references, once more with the resolved values. */
export function loadLinkedSettings<O extends OpenOpts>(request: SettingsRequest<O>): Promise<Settings<O>> {
  return follow(request, () => true);
}

/** Options of the master's configuration that commands read, in addition to their own. */
const readByCommands = new Set(
  (
    'cachedir color_theme gather_job_timeout hash_type key_pass master_pubkey_signature master_sign_key_name nodegroups ' +
    'pki_dir preserve_minion_cache salt_cp_chunk_size signing_key_pass sock_dir state_compress_ids state_output_diff ' +
    'state_output_pct state_output_profile state_tabular strip_colors timeout user'
  ).split(' '),
);

/**
 * For the commands on the master: only the references they need are resolved. Passwords of databases are needed only by
 * the master itself; a slow or unavailable store must not block `salt '*' test.ping`.
 */
export function loadCommandSettings<O extends OpenOpts>(request: SettingsRequest<O>): Promise<Settings<O>> {
  const own = defaultValues(request.spec);
  return follow(request, (name) => Object.hasOwn(own, name) || readByCommands.has(name));
}

async function follow<O extends OpenOpts>(
  request: SettingsRequest<O>,
  wanted: (name: string) => boolean,
): Promise<Settings<O>> {
  const first = loadSettings(request);
  const { given } = first.loaded;
  const deferred = first.loaded.deferred.filter(wanted);
  if (deferred.length === 0) return first;
  const { resolveLinks } = await import('../engine/exec/sdb-links.ts');
  const quiet = (): void => undefined;
  const error = (message: string): void => (request.io ?? terminal).err(`[ERROR   ] ${message}\n`);
  const log = { debug: quiet, info: quiet, warn: quiet, error };
  const found = await resolveLinks(given, deferred, first.opts.raw, log);
  return loadSettings({ ...request, overrides: { ...found, ...request.overrides }, quiet: true });
}
