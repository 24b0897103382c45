// Settings in which references to secret stores (`sdb://…` in place of values) are resolved.
import type { OpenOpts } from '../base/config/opts.ts';
import { terminal } from './io.ts';
import { allOptions, defaultValues } from './optparse.ts';
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
export async function loadCommandSettings<O extends OpenOpts>(request: SettingsRequest<O>): Promise<Settings<O>> {
  const own = defaultValues(request.spec);
  const settings = await follow(request, (name) => Object.hasOwn(own, name) || readByCommands.has(name));
  if (wantsLogFile(settings)) (await import('./log-file.ts')).startLogFile(settings);
  return settings;
}

/** Only when it is asked for: most commands print what is to be said, and the daemons keep the log of what happens. */
function wantsLogFile<O extends OpenOpts>({ spec, explicit }: Settings<O>): boolean {
  const own = new Set(allOptions(spec).map(({ dest }) => dest));
  return ['log_file', 'key_logfile', 'log_level_logfile'].some((dest) => own.has(dest) && explicit.has(dest));
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
