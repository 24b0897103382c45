// Execution module `sysctl`: settings of the running kernel and of the files they are read from at boot.

import { dirname } from 'node:path';
import { commandError, defineModule, fn, type ModuleContext, newDict, type PlainDict, p } from 'halite/sdk';
import { existsSync, isFile, mkdirSync, pathExists, readFileSync, writeFileSync } from 'halite/sdk/fs';
import { askTool, runTool } from 'halite/sdk/system';
import { lines } from 'halite/sdk/text';

const header = '#\n# Kernel sysctl configuration\n#\n';
const spaced = (value: string): string => value.trim().replace(/\s+/g, '\t');
const defaultConfig = (): string =>
  existsSync('/run/systemd/system') ? '/etc/sysctl.d/99-salt.conf' : '/etc/sysctl.conf';

/** `a.b.c` names a file below /proc/sys; dots and slashes change places. */
function procPath(name: string): string {
  const path = name.replace(/[./]/g, (sign) => (sign === '.' ? '/' : '.'));
  if (path.split('/').includes('..')) throw commandError(`sysctl ${name} does not exist`);
  return `/proc/sys/${path}`;
}

async function get(name: string, ctx: ModuleContext): Promise<string> {
  const { stdout, stderr } = await runTool(ctx, 'sysctl', ['-n', name]);
  return (stdout || stderr).trimEnd();
}

async function assign(name: string, value: string, ctx: ModuleContext): Promise<PlainDict> {
  if (!pathExists(procPath(name))) throw commandError(`sysctl ${name} does not exist`);
  const { retcode, stdout, stderr } = await askTool(ctx, 'sysctl', ['-w', `${name}=${value}`]);
  const [newName = '', newValue = ''] = stdout.trim().split(/\s+=\s+/, 2);
  if (newName !== name || spaced(newValue) !== spaced(value) || stderr.includes('Invalid argument')) {
    throw commandError(`sysctl -w failed: ${(retcode !== 0 && stderr ? stderr : stdout).trim()}`);
  }
  return newDict([[newName, newValue]]);
}

/** The settings of a file; undefined when it cannot be read. */
function configured(path: string): PlainDict | undefined {
  const found = newDict();
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
  for (const line of lines(text).map((row) => row.trim())) {
    const at = line.indexOf('=');
    if (at > 0 && !line.startsWith('#')) found[line.slice(0, at).trimEnd()] = line.slice(at + 1).trimStart();
  }
  return found;
}

/** The lines with the setting added or changed; undefined when it is already set. */
function edited(text: string, name: string, value: string): string | undefined {
  let found = false;
  let same = false;
  const rows = text.split('\n').map((line) => {
    const at = line.indexOf('=');
    if (at < 0 || line.trim().startsWith('#') || line.slice(0, at).trim() !== name) return line;
    found = true;
    same = spaced(line.slice(at + 1)) === spaced(value);
    return `${name} = ${value}`;
  });
  if (same) return undefined;
  if (found) return rows.join('\n');
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${name} = ${value}\n`;
}

async function persist(name: string, value: string, given: string | null, ctx: ModuleContext): Promise<string> {
  const config = given ?? defaultConfig();
  if (!isFile(config)) {
    try {
      mkdirSync(dirname(config), { recursive: true });
      writeFileSync(config, header);
    } catch {
      throw commandError(`Could not write to file: ${config}`);
    }
  }
  let text: string;
  try {
    text = readFileSync(config, 'utf8');
  } catch {
    throw commandError(`Could not read from file: ${config}`);
  }
  const made = edited(text, name, value);
  if (made === undefined && spaced(await get(name, ctx)) === spaced(value)) return 'Already set';
  if (made !== undefined) {
    try {
      writeFileSync(config, made);
    } catch {
      throw commandError(`Could not write to file: ${config}`);
    }
  }
  await assign(name, value, ctx);
  return 'Updated';
}

const name = p.string({ doc: 'the setting: net.ipv4.ip_forward' });
const value = p.string({ doc: 'its value' });

export default defineModule({
  name: 'linux_sysctl',
  virtualName: 'sysctl',
  doc: 'Settings of the kernel.',
  available: () => process.platform === 'linux' || 'sysctl: only Linux is supported',
  reads: ['default_config', 'show', 'get'],
  functions: {
    default_config: fn({
      doc: 'The file of persistent settings.',
      examples: ["salt -G 'kernel:Linux' sysctl.default_config"],
      run: defaultConfig,
    }),
    show: fn({
      doc: 'All settings of the running kernel, or those of a file.',
      examples: ["salt '*' sysctl.show"],
      params: { config_file: p.string({ default: false, falsy: null }) },
      async run({ config_file }, ctx) {
        if (config_file) return pathExists(config_file) ? (configured(config_file) ?? null) : [];
        const { stdout } = await askTool(ctx, 'sysctl', ['-a']);
        return newDict(
          lines(stdout).flatMap((line): [string, string][] => {
            const at = line.indexOf(' = ');
            return at < 0 ? [] : [[line.slice(0, at), line.slice(at + 3)]];
          }),
        );
      },
    }),
    get: fn({
      doc: 'One setting of the running kernel.',
      examples: ["salt '*' sysctl.get net.ipv4.ip_forward"],
      params: { name },
      run: (args, ctx) => get(args.name, ctx),
    }),
    assign: fn({
      doc: 'Changes a setting of the running kernel.',
      examples: ["salt '*' sysctl.assign net.ipv4.ip_forward 1"],
      params: { name, value },
      run: (args, ctx) => assign(args.name, args.value, ctx),
    }),
    persist: fn({
      doc: 'Changes a setting now and for every boot.',
      examples: ["salt '*' sysctl.persist net.ipv4.ip_forward 1"],
      params: { name, value, config: p.string({ default: null, doc: 'the file to store it in' }) },
      run: (args, ctx) => persist(args.name, args.value, args.config, ctx),
    }),
  },
});
