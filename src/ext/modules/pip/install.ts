// Installs and removes packages with pip; translates every option of Salt to an option of pip.

import {
  commandError,
  dictEntries,
  isDict,
  type ModuleContext,
  newDict,
  type PlainDict,
  pyStr,
  pythonError,
  type Value,
} from 'halite/sdk';
import { dirName, isDirectory, isWritable, pathExists } from 'halite/sdk/fs';
import {
  environment,
  forgetVersion,
  isAtLeast,
  knowsWheelOption,
  pipVersion,
  runPip,
  type Where,
} from '../../shared/pip/command.ts';
import { indexOptions, protocols } from './list.ts';
import { requirementFiles } from './requirement-files.ts';

export type InstallArgs = Readonly<Record<string, Value>>;

/** A list, or a text with commas. */
function several(value: Value): string[] {
  if (Array.isArray(value)) return value.map(pyStr);
  return value
    ? pyStr(value)
        .split(',')
        .map((item) => item.trim())
    : [];
}
const each = (option: string, value: Value): string[] => several(value).flatMap((item) => [option, item]);
const flag = (option: string, value: Value): string[] => (value ? [option] : []);
const valued = (option: string, value: Value): string[] => (value ? [option, pyStr(value)] : []);

function logOption(log: Value): string[] {
  if (!log) return [];
  const path = pyStr(log);
  const parent = dirName(path);
  const wrong = (text: string): Error => pythonError('OSError', text);
  if (isDirectory(path)) throw wrong(`'${path}' is a directory. Use --log path_to_file`);
  if (pathExists(path)) {
    if (!isWritable(path)) throw wrong(`'${path}' is not writeable`);
  } else if (!pathExists(parent))
    throw wrong(`Trying to create '${path}' but parent directory '${parent}' does not exist.`);
  else if (!isWritable(parent))
    throw wrong(`Trying to create '${path}' but parent directory '${parent}' is not writeable.`);
  return ['--log', path];
}

/** `--proxy`: the given one, or the minion's own. */
function proxyOption(proxy: Value, opts: Readonly<Record<string, Value>>): string[] {
  if (proxy) return ['--proxy', pyStr(proxy)];
  const {
    proxy_host: host,
    proxy_port: port,
    proxy_username: name,
    proxy_password: password,
  } = opts as PlainDict & Record<'proxy_host' | 'proxy_port' | 'proxy_username' | 'proxy_password', Value>;
  if (proxy === false || !host || !port) return [];
  const auth = name && password ? `${pyStr(name)}:${pyStr(password)}@` : '';
  return ['--proxy', `http://${auth}${pyStr(host)}:${pyStr(port)}`];
}

function timeoutOption(timeout: Value): string[] {
  if (!timeout) return [];
  if (!/^\s*[+-]?\d+\s*$/.test(pyStr(timeout)))
    throw pythonError('ValueError', `'${pyStr(timeout)}' is not a valid timeout, must be an integer`);
  return ['--timeout', pyStr(timeout)];
}

/** Options unchanged, or from `{option: value}`. */
function extraOptions(extra: Value): string[] {
  const list = Array.isArray(extra) ? extra : extra ? [extra] : [];
  return list.flatMap((item) => {
    if (!isDict(item)) return [pyStr(item)];
    const [key, value] = dictEntries(item).at(-1) ?? ['', ''];
    if (isDict(value) || Array.isArray(value)) throw pythonError('TypeError', `Too many levels in: ${pyStr(key)}`);
    return [pyStr(key), pyStr(value)];
  });
}

function mirrorOptions(mirrors: Value, version: string | null): string[] {
  if (!mirrors) return [];
  if (isAtLeast(version, '7.0.0'))
    throw commandError('pip >= 7.0.0 does not support mirror argument: use index_url and/or extra_index_url instead');
  const wrong = several(mirrors).find((mirror) => !mirror.startsWith('http://'));
  if (wrong !== undefined) throw commandError(`'${wrong}' is not a valid URL`);
  return ['--use-mirrors', ...each('--mirrors', mirrors)];
}

function linkOptions(links: Value): string[] {
  const wrong = several(links).find((link) => !protocols.test(link) && !pathExists(link));
  if (wrong !== undefined) throw commandError(`'${wrong}' is not a valid URL or path`);
  return each('--find-links', links);
}

function editableOptions(editable: Value): string[] {
  for (const entry of several(editable)) {
    if (entry === '.' || entry.startsWith('file://') || entry.startsWith('/')) continue;
    if (!/(?:#|#.*?&)egg=([^&]+)/.test(entry)) throw commandError('You must specify an egg for this editable');
  }
  return each('--editable', editable);
}

function existsOption(action: Value): string[] {
  if (!action) return [];
  if (!/^[siwb]$/i.test(pyStr(action)))
    throw commandError(
      `The exists_action pip option only supports the values s, i, w, and b. '${pyStr(action)}' is not valid.`,
    );
  return ['--exists-action', pyStr(action)];
}

/** Where packages come from. */
function sourceOptions(a: InstallArgs, version: string | null): string[] {
  if (a['no_index'] && (a['index_url'] || a['extra_index_url']))
    throw commandError("'no_index' and ('index_url' or 'extra_index_url') are mutually exclusive.");
  const text = (value: Value | undefined): string | null => (value ? pyStr(value) : null);
  return [
    ...linkOptions(a['find_links'] ?? null),
    ...indexOptions(text(a['index_url']), text(a['extra_index_url'])),
    ...flag('--no-index', a['no_index'] ?? null),
    ...mirrorOptions(a['mirrors'] ?? null, version),
  ];
}

/** Options about the destination and about existing packages. */
function targetOptions(a: InstallArgs, version: string | null): string[] {
  const cache = isAtLeast(version, '6.0') ? '--cache-dir' : '--download-cache';
  return [
    ...flag('--disable-pip-version-check', a['disable_version_check'] ?? null),
    ...valued('--build', a['build'] ?? null),
    ...valued('--target', a['target'] ?? process.env['VENV_PIP_TARGET'] ?? null),
    ...valued('--download', a['download'] ?? null),
    ...valued(cache, a['download_cache'] || a['cache_dir'] || null),
    ...valued('--source', a['source'] ?? null),
    ...flag('--upgrade', a['upgrade'] ?? null),
    ...flag('--force-reinstall', a['force_reinstall'] ?? null),
    ...flag('--ignore-installed', a['ignore_installed'] ?? null),
    ...existsOption(a['exists_action'] ?? null),
    ...flag('--no-deps', a['no_deps'] ?? null),
    ...flag('--no-install', a['no_install'] ?? null),
    ...flag('--no-download', a['no_download'] ?? null),
    ...flag('--no-cache-dir', a['no_cache_dir'] ?? null),
    ...(a['pre_releases'] && isAtLeast(version, '1.4') ? ['--pre'] : []),
    ...valued('--cert', a['cert'] ?? null),
    ...each('--global-option', a['global_options'] ?? null),
    ...each('--install-option', a['install_options'] ?? null),
  ];
}

function wheelOptions(a: InstallArgs, version: string | null, ctx: ModuleContext): string[] {
  const options: string[] = [];
  for (const [name, option] of [
    ['use_wheel', '--use-wheel'],
    ['no_use_wheel', '--no-use-wheel'],
  ] as const) {
    if (!a[name]) continue;
    if (knowsWheelOption(version)) options.push(option);
    else ctx.log.error(`pip ${version ?? ''} does not support ${option}; it is ignored.`);
  }
  if (a['no_binary']) {
    if (isAtLeast(version, '7.0.0')) options.push('--no-binary', several(a['no_binary']).join(','));
    else ctx.log.error(`pip ${version ?? ''} does not support --no-binary; it is ignored.`);
  }
  return options;
}

/** Runs with the options for the requirements files; answers with a failure when one of them is missing. */
async function withFiles(
  a: InstallArgs,
  ctx: ModuleContext,
  run: (at: Where, options: readonly string[]) => Promise<Value>,
): Promise<Value> {
  const at: Where = { bin_env: a['bin_env'] ?? null, user: a['user'] ?? null, cwd: a['cwd'] ?? null };
  const files = await requirementFiles(a['requirements'] ?? null, at, pyStr(a['saltenv'] ?? 'base'), ctx);
  try {
    if (files.missing !== undefined)
      return newDict([
        ['result', false],
        ['comment', `pip requirements file '${files.missing}' not found`],
      ]);
    return await run(at, files.options);
  } finally {
    forgetVersion(at.bin_env, ctx);
    files.dispose();
  }
}

/** `pip install`: the answer of cmd.run_all, or `{result: False, comment}` for a missing file. */
export async function install(a: InstallArgs, kwargs: PlainDict, ctx: ModuleContext): Promise<Value> {
  return withFiles(a, ctx, async (at, files) => {
    const version = await pipVersion(at, ctx);
    // Commas inside conditions arrive as semicolons, because commas separate packages.
    const pkgs = several(a['pkgs'] ?? null).map((name) => name.replaceAll(';', ','));
    const args = [
      'install',
      ...files,
      ...wheelOptions(a, version, ctx),
      ...logOption(a['log'] ?? null),
      ...proxyOption(a['proxy'] ?? null, ctx.opts),
      ...timeoutOption(a['timeout'] ?? null),
      ...sourceOptions(a, version),
      ...targetOptions(a, version),
      ...pkgs,
      ...editableOptions(a['editable'] ?? null),
      ...flag('--allow-all-external', a['allow_all_external'] ?? null),
      ...each('--allow-external', a['allow_external'] ?? null),
      ...each('--allow-unverified', a['allow_unverified'] ?? null),
      ...flag('--process-dependency-links', a['process_dependency_links'] ?? null),
      ...valued('--trusted-host', a['trusted_host'] ?? null),
      ...extraOptions(a['extra_args'] ?? null),
    ];
    if (pkgs.length === 0 && !a['requirements'] && !a['editable'])
      return newDict([
        ['retcode', 0],
        ['stdout', 'No packages to install.'],
      ]);
    environment(a['env_vars'] ?? null);
    return (await runPip(args, at, ctx, a['env_vars'] ?? null, kwargs)) as unknown as Value;
  });
}

export async function uninstall(a: InstallArgs, ctx: ModuleContext): Promise<Value> {
  return withFiles(a, ctx, async (at, files) => {
    const args = [
      'uninstall',
      '-y',
      ...files,
      ...valued('--log', a['log'] ?? null),
      ...proxyOption(a['proxy'] ?? null, ctx.opts),
      ...timeoutOption(a['timeout'] ?? null),
      ...several(a['pkgs'] ?? null),
      ...extraOptions(a['extra_args'] ?? null),
    ];
    return (await runPip(args, at, ctx)) as unknown as Value;
  });
}
