// Execution module `raid`: disk arrays, with mdadm.

import {
  commandError,
  defineModule,
  dictGet,
  fn,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { existsSync, pathExists } from 'halite/sdk/fs';
import { askTool, runTool, which } from 'halite/sdk/system';
import { lines, partition, pyEscape, words } from 'halite/sdk/text';

const configFile = (ctx: ModuleContext): string =>
  dictGet(ctx.grains, 'os_family') === 'Debian' ? '/etc/mdadm/mdadm.conf' : '/etc/mdadm.conf';

/** Lines of `mdadm --detail --scan`. */
export function parseArrays(text: string): PlainDict {
  const rows = lines(text)
    .filter((line) => line.includes(' '))
    .map((line) => words(line));
  return newDict(
    rows.map(([, device = '', ...rest]) => [
      device,
      newDict([
        ['device', device],
        ...rest.map((item): [string, string] => [(item.split('=')[0] ?? '').toLowerCase(), item.split('=')[1] ?? '']),
      ]),
    ]),
  );
}

/** What `mdadm --detail` prints about one array. */
export function parseDetail(text: string, device: string): PlainDict {
  const members = newDict();
  const found = newDict([['members', members]]);
  for (const line of lines(text)) {
    if (line.startsWith(device) || !line.includes(' ')) continue;
    if (line.includes(':')) {
      const [key = '', value = ''] = line.split(' : ');
      found[key.trim().toLowerCase().replaceAll(' ', '_')] = value.trim();
    } else if (line.includes('/dev/')) {
      const parts = words(line);
      const [number = '', major = '', minor = '', raiddevice = ''] = parts;
      const state = parts.slice(4, -1).join(' ');
      members[number] = newDict(
        Object.entries({ device: parts.at(-1) ?? '', major, minor, number, raiddevice, state }),
      );
    }
  }
  return found;
}

const arrays = async (ctx: ModuleContext): Promise<PlainDict> =>
  parseArrays((await askTool(ctx, 'mdadm', ['--detail', '--scan'])).stdout);

async function details(device: string, ctx: ModuleContext): Promise<PlainDict> {
  if (!existsSync(device)) throw commandError(`Device ${device} doesn't exist!`);
  return parseDetail((await askTool(ctx, 'mdadm', ['--detail', device])).stdout, device);
}

/** Further options: `--key value`, or `--key` for true. */
const further = (kwargs: PlainDict): string[] =>
  Object.entries(kwargs)
    .filter(([key]) => !key.startsWith('__'))
    .flatMap(([key, value]) => (value === true ? [`--${key}`] : [`--${key}`, pyStr(value)]));

const deviceList = (devices: Value): string[] =>
  Array.isArray(devices) ? devices.map(pyStr) : pyStr(devices).split(',');

async function said(args: readonly string[], ctx: ModuleContext): Promise<string> {
  const { stdout, stderr } = await runTool(ctx, 'mdadm', args);
  return `${stdout}${stderr}`.trimEnd();
}

async function keepArrays(ctx: ModuleContext): Promise<Value> {
  const scan = lines((await askTool(ctx, 'mdadm', ['--detail', '--scan'])).stdout);
  const file = configFile(ctx);
  const isUbuntu = dictGet(ctx.grains, 'os') === 'Ubuntu';
  const rows = isUbuntu ? scan.map((line) => line.replace(/\s(?:name|metadata)=\S+/gi, '')) : scan;
  if (!pathExists(file)) await ctx.callWith('file.write', [file], newDict([['args', rows]]));
  else
    for (const row of rows)
      await ctx.callWith(
        'file.replace',
        [file, `^ARRAY\\s+${pyEscape(words(row)[1] ?? '')}\\s+.*$`, row],
        newDict([['append_if_not_found', true]]),
      );
  const family = dictGet(ctx.grains, 'os_family');
  const tool =
    family === 'Debian' ? ['update-initramfs', '-u'] : family === 'RedHat' ? ['dracut', '--force'] : undefined;
  return tool && which(tool[0] ?? '') ? (await runTool(ctx, tool[0] ?? '', tool.slice(1))).stdout.trimEnd() : null;
}

const device = p.path({ doc: 'the array' });
const test_mode = p.bool({ default: false, doc: 'only the command' });
const kwargs = p.kwargs({ doc: 'further options of mdadm' });

export default defineModule({
  name: 'mdadm_raid',
  virtualName: 'raid',
  doc: 'Arrays of disks.',
  available: () =>
    which('mdadm') !== null || 'The mdadm execution module cannot be loaded: the mdadm binary is not in the path.',
  reads: ['list', 'detail', 'examine'],
  functions: {
    list: fn({ doc: 'All arrays.', examples: ["salt '*' raid.list"], run: (_, ctx) => arrays(ctx) }),
    detail: fn({
      doc: 'Details of an array.',
      examples: ["salt '*' raid.detail /dev/md0"],
      params: { device: p.path({ default: '/dev/md0', doc: 'the array' }) },
      run: (args, ctx) => details(args.device, ctx),
    }),
    examine: fn({
      doc: 'The array metadata on a disk.',
      examples: ["salt '*' raid.examine /dev/sda1"],
      params: {
        device: p.path({ doc: 'the disk' }),
        quiet: p.bool({ default: false, doc: 'a missing array is not a failure' }),
      },
      run: async (args, ctx) => {
        const { stdout } = await (args.quiet ? askTool : runTool)(ctx, 'mdadm', ['-Y', '-E', args.device]);
        return newDict(lines(stdout).map((line) => [partition(line, '=')[0], partition(line, '=')[2]]));
      },
    }),
    create: fn({
      doc: 'Creates an array.',
      examples: ["salt '*' raid.create /dev/md0 level=1 devices=['/dev/xvdd', '/dev/xvde']"],
      params: {
        name: device,
        level: p.string({ doc: 'level' }),
        devices: p.strings({ split: ',', doc: 'disks, or `missing`' }),
        metadata: p.string({ default: 'default', doc: 'version of metadata' }),
        test_mode,
        kwargs,
      },
      reads: ({ test_mode }) => test_mode,
      run({ name, level, devices, metadata, test_mode, kwargs }, ctx) {
        const disks = deviceList(devices);
        const count = disks.length - Number(kwargs['spare-devices'] ?? 0);
        const rest = ['-e', metadata, '-n', String(count), ...disks];
        const args = ['-C', name, '-R', '-v', '-l', level, ...further(kwargs), ...rest];
        return test_mode ? ['mdadm', ...args].join(' ') : said(args, ctx);
      },
    }),
    assemble: fn({
      doc: 'Assembles an array.',
      examples: ["salt '*' raid.assemble /dev/md0 ['/dev/xvdd', '/dev/xvde']"],
      params: { name: device, devices: p.strings({ split: ',', doc: 'disks' }), test_mode, kwargs },
      reads: ({ test_mode }) => test_mode,
      run({ name, devices, test_mode, kwargs }, ctx) {
        const args = ['-A', name, '-v', ...further(kwargs), ...deviceList(devices)];
        return test_mode ? ['mdadm', ...args] : said(args, ctx);
      },
    }),
    add: fn({
      doc: 'Adds a disk to an array.',
      examples: ["salt '*' raid.add /dev/md0 /dev/sda1"],
      params: { name: device, device: p.path({ doc: 'the disk' }) },
      run: async (args, ctx) =>
        (await runTool(ctx, 'mdadm', ['--manage', args.name, '--add', args.device])).retcode === 0,
    }),
    destroy: fn({
      doc: 'Destroys an array; its data is lost.',
      examples: ["salt '*' raid.destroy /dev/md0"],
      params: { device },
      async run(args, ctx) {
        if (!existsSync(args.device)) return false;
        const { members } = (await details(args.device, ctx)) as { members?: PlainDict };
        const disks = Object.values(members ?? {}).map((member) => pyStr((member as PlainDict)['device'] ?? ''));
        if ((await runTool(ctx, 'mdadm', ['--stop', args.device])).retcode === 0)
          await runTool(ctx, 'mdadm', ['--zero-superblock', ...disks]);
        const file = configFile(ctx);
        if (pathExists(file)) await ctx.call('file.replace', file, `ARRAY ${pyEscape(args.device)} .*`, '');
        return !(args.device in (await arrays(ctx)));
      },
    }),
    stop: fn({
      doc: 'Stops all arrays.',
      examples: ["salt '*' raid.stop"],
      run: async (_, ctx) => (await runTool(ctx, 'mdadm', ['--stop', '--scan'])).retcode === 0,
    }),
    save_config: fn({
      doc: 'Writes the arrays to the configuration file.',
      examples: ["salt '*' raid.save_config"],
      run: (_, ctx) => keepArrays(ctx),
    }),
  },
});
