// How the options of salt-call change the minion's configuration.
import { resolve } from 'node:path';
import { asList, dictOf, type Value } from '../../base/codec/value.ts';
import type { MinionOpts } from '../../base/config/opts.ts';
import type { OptionValue } from '../optparse.ts';
import { flagOption, type Settings, textOption } from '../settings.ts';

const paths = (value: Value | undefined): string[] => (asList(value) ?? []).map((path) => resolve(String(path)));

/** Folders of --module-dirs; one option may contain several, separated by commas. */
export function moduleDirs(value: OptionValue | Value | undefined): string[] {
  const given = (asList(value) ?? []).map(String);
  return given.flatMap((dir) => dir.split(',')).map((dir) => resolve(dir));
}

const rootOptions = { file_root: '--file-root', pillar_root: '--pillar-root', states_dir: '--states-dir' } as const;

/** Sets roots and the file client; warns without --local, because the roots would be ignored. */
export function applyCallOptions(settings: Settings<MinionOpts>): void {
  const opts = settings.opts.raw;
  const local = flagOption(settings, 'local');
  const given = (Object.keys(rootOptions) as (keyof typeof rootOptions)[]).filter(
    (dest) => paths(settings.values[dest]).length > 0,
  );
  for (const dest of given) {
    const folders = paths(settings.values[dest]);
    if (dest === 'states_dir') opts['states_dirs'] = folders;
    else opts[`${dest}s`] = dictOf([['base', folders]]);
  }
  if (local) opts['file_client'] = 'local';
  const master = textOption(settings, 'master');
  if (settings.explicit.has('master') && master !== '') {
    opts['master'] = master;
    if (opts['master_type'] === 'func') opts['master_type'] = 'str';
  }
  const modules = moduleDirs(settings.explicit.has('module_dirs') ? settings.values['module_dirs'] : []);
  if (modules.length > 0) opts['module_dirs'] = modules;
  if (local || given.length === 0) return;
  const names = given.map((dest) => rootOptions[dest]).join(', ');
  settings.io.err(
    `Warning: ${names} ${given.length === 1 ? 'is' : 'are'} ignored because --local was not specified; the remote ` +
      'file client retrieves these from the master. Re-run with --local to use the local override.\n',
  );
}

/** Whether no master is used: --local, or a minion configured without one. */
export function isLocal(settings: Settings<MinionOpts>): boolean {
  const opts = settings.opts.raw;
  return flagOption(settings, 'local') || opts['file_client'] === 'local' || opts['master_type'] === 'disable';
}
