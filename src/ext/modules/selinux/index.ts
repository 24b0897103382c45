// Execution module `selinux`: mode, booleans, modules, and contexts of files and ports.

import {
  commandError,
  defineModule,
  dictEntries,
  dictGet,
  type ExecResult,
  fn,
  invocationError,
  isDict,
  messageOf,
  newDict,
  type PlainDict,
  p,
  pyStr,
} from 'halite/sdk';
import { isFile, readText, writeFileSync } from 'halite/sdk/fs';
import { askTool, runTool, which } from 'halite/sdk/system';
import { capitalize, lines, words } from 'halite/sdk/text';
import { fileTypeText, findFilePolicy, findPortPolicy, protocolAndPort, relabelled } from './contexts.ts';

const configFile = '/etc/selinux/config';
const fsPath = (): string | null =>
  ['/sys/fs/selinux', '/selinux'].find((folder) => isFile(`${folder}/enforce`)) ?? null;

function currentMode(): string {
  const folder = fsPath();
  const text = folder === null ? undefined : readText(`${folder}/enforce`);
  if (text === undefined) return 'Disabled';
  return text.trim() === '0' ? 'Permissive' : 'Enforcing';
}

const configuredMode = (): string | null => {
  const line = lines(readText(configFile) ?? '').find((text) => text.trim().startsWith('SELINUX='));
  return line === undefined ? null : capitalize(line.split('=')[1] ?? '').trim();
};

function setMode(mode: string): string {
  const word = mode.toLowerCase();
  if (!['enforcing', 'permissive', 'disabled'].includes(word)) return `Invalid mode ${mode}`;
  try {
    if (currentMode() !== 'Disabled') writeFileSync(`${fsPath()}/enforce`, word === 'enforcing' ? '1' : '0');
  } catch (error) {
    throw commandError(`Could not write SELinux enforce file: ${messageOf(error)}`);
  }
  const config = readText(configFile);
  if (config === undefined) throw commandError(`Could not read SELinux config file: ${configFile}`);
  writeFileSync(configFile, config.replace(/^SELINUX=.*$/m, `SELINUX=${word}`));
  return currentMode();
}

/** As cmd.run_all gives it. */
const resultDict = ({ pid, retcode, stdout, stderr }: ExecResult): PlainDict =>
  newDict(Object.entries({ pid, retcode, stdout: stdout.trimEnd(), stderr: stderr.trimEnd() }));

/** Lines of `semanage boolean -l`: `name (on , off) text`. */
export function parseBooleans(text: string): PlainDict {
  const rows = lines(text)
    .slice(1)
    .filter((line) => line.trim() !== '')
    .map((line) => words(line));
  return newDict(
    rows.map(([name = '', state = '', , fallback = '', ...rest]) => [
      name,
      newDict(Object.entries({ State: state.slice(1), Default: fallback.slice(0, -1), Description: rest.join(' ') })),
    ]),
  );
}

/** Lines of `semodule -lfull` (priority, name, language, maybe `disabled`). */
export function parseModules(text: string): PlainDict {
  const rows = lines(text)
    .filter((line) => line.trim() !== '')
    .map((line) => words(line));
  return newDict(
    rows.map((row) => [row[1] ?? '', newDict(Object.entries({ Enabled: row.length !== 4, Version: null }))]),
  );
}

const boolean = p.string({ doc: 'the boolean' });
const persist = p.bool({ default: false, doc: 'also at boot' });
const module = p.string({ doc: 'the module' });
const name = p.string({ doc: 'the path, which may be an expression' });
const recursive = p.bool({ default: false, doc: 'and all below' });
const fileParams = {
  name,
  filetype: p.string({ default: null, doc: 'a all, f file, d directory, c b devices, s socket, l link, p pipe' }),
  sel_type: p.string({ default: null, doc: 'type' }),
  sel_user: p.string({ default: null, doc: 'user' }),
  sel_level: p.string({ default: null, doc: 'level' }),
};
const portParams = {
  name: p.string({ doc: 'tcp/8080, or any name' }),
  protocol: p.string({ default: null, doc: 'tcp or udp' }),
  port: p.string({ default: null, doc: 'port or range' }),
};

const modes = {
  selinux_fs_path: fn({
    doc: 'The mount point of the SELinux file system, or nothing.',
    examples: ["salt '*' selinux.selinux_fs_path"],
    run: () => fsPath(),
  }),
  getenforce: fn({ doc: 'The mode now.', examples: ["salt '*' selinux.getenforce"], run: () => currentMode() }),
  getconfig: fn({ doc: 'The mode at boot.', examples: ["salt '*' selinux.getconfig"], run: () => configuredMode() }),
  setenforce: fn({
    doc: 'Sets the mode, now and at boot.',
    examples: ["salt '*' selinux.setenforce enforcing"],
    params: { mode: p.string({ doc: 'enforcing, permissive or disabled' }) },
    run: (args) => setMode(args.mode),
  }),
};

const booleans = {
  list_sebool: fn({
    doc: 'All booleans with their states.',
    examples: ["salt '*' selinux.list_sebool"],
    run: async (_, ctx) => parseBooleans((await runTool(ctx, 'semanage', ['boolean', '-l'])).stdout),
  }),
  getsebool: fn({
    doc: 'A boolean with its states.',
    examples: ["salt '*' selinux.getsebool virt_use_usb"],
    params: { boolean },
    run: async (args, ctx) =>
      parseBooleans((await runTool(ctx, 'semanage', ['boolean', '-l'])).stdout)[args.boolean] ?? newDict(),
  }),
  setsebool: fn({
    doc: 'Sets a boolean.',
    examples: ["salt '*' selinux.setsebool virt_use_usb off"],
    params: { boolean, value: p.string({ doc: 'on or off' }), persist },
    run: async (args, ctx) =>
      (await runTool(ctx, 'setsebool', [...(args.persist ? ['-P'] : []), args.boolean, args.value])).retcode === 0,
  }),
  setsebools: fn({
    doc: 'Sets several booleans.',
    examples: [`salt '*' selinux.setsebools '{virt_use_usb: on, squid_use_tproxy: off}'`],
    params: { pairs: p.dict({ doc: 'boolean → on or off' }), persist },
    async run(args, ctx) {
      if (!isDict(args.pairs)) return newDict();
      const pairs = dictEntries(args.pairs).map(([key, value]) => `${pyStr(key)}=${pyStr(value)}`);
      return (await runTool(ctx, 'setsebool', [...(args.persist ? ['-P'] : []), ...pairs])).retcode === 0;
    },
  }),
};

const modules = {
  list_semod: fn({
    doc: 'Modules of the policy.',
    examples: ["salt '*' selinux.list_semod"],
    run: async (_, ctx) => parseModules((await runTool(ctx, 'semodule', ['-lfull'])).stdout),
  }),
  getsemod: fn({
    doc: 'A module of the policy.',
    examples: ["salt '*' selinux.getsemod mysql"],
    params: { module },
    run: async (args, ctx) =>
      parseModules((await runTool(ctx, 'semodule', ['-lfull'])).stdout)[args.module] ?? newDict(),
  }),
  setsemod: fn({
    doc: 'Enables or disables a module.',
    examples: ["salt '*' selinux.setsemod mysql Enabled"],
    params: { module, state: p.string({ doc: 'enabled or disabled' }) },
    run: async (args, ctx) =>
      (await runTool(ctx, 'semodule', [args.state.toLowerCase() === 'enabled' ? '-e' : '-d', args.module])).retcode ===
      0,
  }),
  install_semod: fn({
    doc: 'Installs a module from a file.',
    examples: ["salt '*' selinux.install_semod salt://own.pp"],
    params: { module_path: p.string({ doc: 'the file' }) },
    async run(args, ctx) {
      const path = args.module_path.startsWith('salt://')
        ? pyStr(await ctx.call('cp.cache_file', args.module_path))
        : args.module_path;
      return (await runTool(ctx, 'semodule', ['-i', path])).retcode === 0;
    },
  }),
  remove_semod: fn({
    doc: 'Removes a module.',
    examples: ["salt '*' selinux.remove_semod own"],
    params: { module },
    run: async (args, ctx) => (await runTool(ctx, 'semodule', ['-r', args.module])).retcode === 0,
  }),
};

const fileContexts = {
  filetype_id_to_string: fn({
    doc: 'The name of a file type letter.',
    examples: ["salt '*' selinux.filetype_id_to_string f"],
    params: { filetype: p.string({ default: 'a' }) },
    run: (args) => fileTypeText(args.filetype),
  }),
  fcontext_get_policy: fn({
    doc: 'The rule for a path, or nothing.',
    examples: ["salt '*' selinux.fcontext_get_policy my-policy"],
    params: fileParams,
    run: async (args, ctx) => findFilePolicy((await askTool(ctx, 'semanage', ['fcontext', '-l'])).stdout, args),
  }),
  fcontext_add_policy: fn({
    doc: 'Adds or changes a rule for a path.',
    examples: ["salt '*' selinux.fcontext_add_policy '/srv/web(/.*)?' sel_type=httpd_sys_content_t"],
    params: fileParams,
    async run(args, ctx) {
      const listed = lines((await askTool(ctx, 'semanage', ['fcontext', '-l'])).stdout);
      const known = listed.some((line) => line.startsWith(`${args.name} `));
      return resultDict(
        await runTool(ctx, 'semanage', ['fcontext', known ? '--modify' : '--add', ...fileArguments(args)]),
      );
    },
  }),
  fcontext_delete_policy: fn({
    doc: 'Removes the rule for a path.',
    examples: ["salt '*' selinux.fcontext_delete_policy '/srv/web(/.*)?'"],
    params: fileParams,
    run: async (args, ctx) =>
      resultDict(await runTool(ctx, 'semanage', ['fcontext', '--delete', ...fileArguments(args)])),
  }),
  fcontext_policy_is_applied: fn({
    doc: 'The paths that would be relabelled.',
    examples: ["salt '*' selinux.fcontext_policy_is_applied /srv/web"],
    params: { name, recursive },
    run: async (args, ctx) =>
      (await runTool(ctx, 'restorecon', ['-n', '-v', ...(args.recursive ? ['-R'] : []), args.name])).stdout.trimEnd(),
  }),
  fcontext_apply_policy: fn({
    doc: 'Relabels a path according to its rules.',
    examples: ["salt '*' selinux.fcontext_apply_policy /srv/web"],
    params: { name, recursive },
    async run(args, ctx) {
      const below = args.recursive ? ['-R'] : [];
      const foretold = (await askTool(ctx, 'restorecon', ['-n', '-v', ...below, args.name])).stdout.trimEnd();
      const done = resultDict(await runTool(ctx, 'restorecon', ['-v', '-F', ...below, args.name]));
      if (done['retcode'] !== 0) return done;
      const changes = relabelled(foretold);
      if (changes) return Object.keys(changes).length > 0 ? Object.assign(done, { changes }) : done;
      return Object.assign(done, { retcode: 1, error: 'Unrecognized response from restorecon command.' });
    },
  }),
};

function fileArguments(args: {
  readonly name: string;
  readonly filetype: string | null;
  readonly sel_type: string | null;
  readonly sel_user: string | null;
  readonly sel_level: string | null;
}): string[] {
  if (args.filetype) fileTypeText(args.filetype);
  return [
    ...(args.filetype && args.filetype !== 'a' ? ['--ftype', args.filetype] : []),
    ...(args.sel_type ? ['--type', args.sel_type] : []),
    ...(args.sel_user ? ['--seuser', args.sel_user] : []),
    ...(args.sel_level ? ['--range', args.sel_level] : []),
    args.name,
  ];
}

const sel_type = p.string({ default: null, doc: 'type' });
const ports = {
  port_get_policy: fn({
    doc: 'The rule for a port, or nothing.',
    examples: ["salt '*' selinux.port_get_policy tcp/80"],
    params: { name: portParams.name, sel_type, protocol: portParams.protocol, port: portParams.port },
    async run(args, ctx) {
      const [protocol, port] = protocolAndPort(args.name, args.protocol, args.port);
      const { stdout } = await askTool(ctx, 'semanage', ['port', '-l']);
      return findPortPolicy(stdout, { sel_type: args.sel_type, protocol, port });
    },
  }),
  port_add_policy: fn({
    doc: 'Adds a rule for a port.',
    examples: ["salt '*' selinux.port_add_policy tcp/8080 http_port_t"],
    params: {
      name: portParams.name,
      sel_type,
      protocol: portParams.protocol,
      port: portParams.port,
      sel_range: p.string({ default: null, doc: 'range of levels' }),
    },
    async run(args, ctx) {
      if (!args.sel_type) throw invocationError('SELinux Type is required to add a policy');
      const [protocol, port] = protocolAndPort(args.name, args.protocol, args.port);
      const range = args.sel_range ? ['--range', args.sel_range] : [];
      return resultDict(
        await runTool(ctx, 'semanage', ['port', '--add', '--proto', protocol, '--type', args.sel_type, ...range, port]),
      );
    },
  }),
  port_delete_policy: fn({
    doc: 'Removes the rule for a port.',
    examples: ["salt '*' selinux.port_delete_policy tcp/8080"],
    params: portParams,
    async run(args, ctx) {
      const [protocol, port] = protocolAndPort(args.name, args.protocol, args.port);
      return resultDict(await runTool(ctx, 'semanage', ['port', '--delete', '--proto', protocol, port]));
    },
  }),
};

export default defineModule({
  name: 'selinux',
  doc: 'Mode, booleans, modules, and contexts of files and ports.',
  available({ grains }) {
    const missing = ['semanage', 'setsebool', 'semodule'].find((tool) => which(tool) === null);
    if (missing) return `${missing} is not in the path`;
    return dictGet(grains, 'kernel') === 'Linux' || 'Module only works on Linux with selinux installed';
  },
  reads: [
    'selinux_fs_path',
    'getenforce',
    'getconfig',
    'list_sebool',
    'getsebool',
    'list_semod',
    'getsemod',
    'filetype_id_to_string',
    'fcontext_get_policy',
    'fcontext_policy_is_applied',
    'port_get_policy',
  ],
  functions: { ...modes, ...booleans, ...modules, ...fileContexts, ...ports },
});
