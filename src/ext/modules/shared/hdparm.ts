// Functions of `disk` that use hdparm: settings of a disk, and its hidden area.
import { commandError, fn, type ModuleContext, newDict, type PlainDict, p, pyInt, pyStr, type Value } from 'halite/sdk';
import { requireBinary, runTool } from 'halite/sdk/system';
import { lines, partition } from 'halite/sdk/text';

const isNumber = (text: string): boolean => /^[-+]?\d+$/.test(text);

/** `256 (on)` gives both values; otherwise splits at commas and slashes, with `name = value` in a map at the end. */
function parseValue(text: string): Value | undefined {
  const both = /^([0-9]+) (\(.*\))/.exec(text);
  if (both) return [Number(both[1]), (text.split(' ')[1] ?? '').replace(/^[()]+|[()]+$/g, '')];
  const found: Value[] = [];
  const named = newDict();
  for (const part of text.split(/[/,]/).map((piece) => piece.trim())) {
    const [key, equals, value] = partition(part, '=').map((piece) => piece.trim()) as [string, string, string];
    if (isNumber(part)) found.push(Number(part));
    else if (equals && value) named[key] = value;
    else if (!equals && part) found.push(part);
  }
  if (Object.keys(named).length > 0) found.push(named);
  return found.length > 1 ? found : found[0];
}

/** What hdparm prints of one disk: `key = value` and `key: value`. */
export function parseHdparm(output: string, disk: string): PlainDict {
  const found = newDict();
  for (const line of lines(output).map((row) => row.trim())) {
    if (line === '' || line === `${disk}:`) continue;
    const separator = line.includes(':') ? ':' : '=';
    const [name, there, text] = partition(line, separator);
    const value = there ? parseValue(text.trim()) : undefined;
    if (value === undefined) continue;
    const key = separator === ':' ? name.replace(/ is$/, '') : name;
    found[key.trim().toLowerCase().replaceAll(' ', '_')] = value;
  }
  return found;
}

async function hdparms(disks: Value, letters: string, ctx: ModuleContext): Promise<PlainDict> {
  const found = newDict();
  for (const name of (Array.isArray(disks) ? disks : [disks]).map(pyStr)) {
    const disk = name.startsWith('/dev') ? name : `/dev/${name}`;
    const { stdout } = await runTool(ctx, requireBinary('hdparm'), [`-${letters}`, disk]);
    found[disk] = parseHdparm(stdout, disk);
  }
  return found;
}

/** Sectors in all, and how many of them are hidden. */
function hiddenOf(settings: PlainDict): PlainDict {
  const first = Object.values(settings)[0];
  const [visible, total, status] = Array.isArray(first) ? first : [];
  if (typeof visible !== 'number' || typeof total !== 'number') throw commandError('hdparm tells no number of sectors');
  if (visible === total || pyStr(status ?? '').includes('disabled')) return newDict([['total', total]]);
  return newDict(Object.entries({ total, visible, hidden: total - visible }));
}

async function hide(disk: string, total: number, size: string, ctx: ModuleContext): Promise<void> {
  const text = pyStr(size);
  const left = text.endsWith('%') ? ((100 - pyInt(text.slice(0, -1))) * total) / 100 : total - pyInt(size);
  const sectors = Math.trunc(left <= 0 ? total : left);
  const words = ['--yes-i-know-what-i-am-doing', `-Np${sectors}`, disk];
  const { retcode, stderr } = await runTool(ctx, requireBinary('hdparm'), words);
  if (retcode !== 0) throw commandError(`hdparm ${words.join(' ')}: ${stderr.trim()}`);
}

const disks = p.strings({ doc: 'a disk, or several' });

export const hdparmFunctions = {
  hdparms: fn({
    doc: 'Settings of disks, from hdparm.',
    examples: ["salt '*' disk.hdparms /dev/sda"],
    params: {
      disks,
      args: p.oneOf(['list', 'string'], { default: null, doc: 'letters of the settings; default: all' }),
    },
    run: ({ disks, args }, ctx) =>
      hdparms(disks, Array.isArray(args) ? args.map(pyStr).join('') : pyStr(args ?? 'aAbBcCdgHiJkMmNnQrRuW'), ctx),
  }),
  hpa: fn({
    doc: 'The host protected area of disks; with a size (sectors or per cent) it is set.',
    examples: ["salt '*' disk.hpa /dev/sda", "salt '*' disk.hpa /dev/sda 5%"],
    params: { disks, size: p.string({ default: null, doc: 'how much to hide' }) },
    async run({ disks, size }, ctx): Promise<Value> {
      const found = Object.entries(await hdparms(disks, 'N', ctx)).map(([disk, settings]): [string, PlainDict] => [
        disk,
        hiddenOf(settings as PlainDict),
      ]);
      if (size === null) return newDict(found);
      for (const [disk, { total }] of found) await hide(disk, Number(total), size, ctx);
      return null;
    },
  }),
};
