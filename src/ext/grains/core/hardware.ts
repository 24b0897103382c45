// Firmware data (DMI or device tree) and graphics cards.
import { type GrainContext, newDict, type PlainDict } from 'halite/sdk';
import { isDirectory, isFile, readText } from 'halite/sdk/fs';
import { which } from 'halite/sdk/system';
import { lines } from 'halite/sdk/text';

const dmiFiles: readonly (readonly [string, string])[] = [
  ['biosversion', 'bios_version'],
  ['biosvendor', 'bios_vendor'],
  ['boardname', 'board_name'],
  ['productname', 'product_name'],
  ['manufacturer', 'sys_vendor'],
  ['biosreleasedate', 'bios_date'],
  ['uuid', 'product_uuid'],
  ['serialnumber', 'product_serial'],
];

/** The firmware's description; fields that the user may not read are omitted. */
export function firmwareGrains(folder = '/sys/class/dmi/id'): PlainDict {
  const grains = newDict();
  for (const [grain, file] of dmiFiles) {
    const text = readText(`${folder}/${file}`);
    if (text !== undefined) grains[grain] = grain === 'uuid' ? text.trim().toLowerCase() : text.trim();
  }
  return grains;
}

/** Boards without DMI (ARM, POWER) describe themselves in the device tree. */
export function deviceTreeGrains(folder = '/proc/device-tree'): PlainDict {
  const grains = newDict();
  if (!isDirectory(folder)) return grains;
  const read = (name: string): string | undefined =>
    isFile(`${folder}/${name}`) ? readText(`${folder}/${name}`)?.replace(/\0+$/, '') : undefined;
  const model = read('model');
  if (model) {
    const comma = model.indexOf(',');
    if (comma >= 0) grains['manufacturer'] = model.slice(0, comma);
    grains['productname'] = comma >= 0 ? model.slice(comma + 1) : model;
  }
  const serial = read('serial-number') || read('system-id');
  if (serial) grains['serialnumber'] = serial;
  return grains;
}

const gpuClasses = ['3d controller', 'display controller', 'processing accelerators', 'vga compatible controller'];
const gpuVendors = ['nvidia', 'amd', 'ati', 'intel', 'cirrus logic', 'vmware', 'matrox', 'aspeed'];

/** Graphics cards in the output of `lspci -vmm`. */
export function parseGpus(output: string): PlainDict[] {
  const found: PlainDict[] = [];
  for (const record of output.split(/\n\s*\n/)) {
    const fields = new Map<string, string>();
    for (const line of lines(record)) {
      const match = /^(\w+):\s+(.*)/.exec(line);
      if (match) fields.set(match[1] as string, (match[2] as string).trim());
    }
    if (!gpuClasses.includes((fields.get('Class') ?? '').toLowerCase())) continue;
    const parts = (fields.get('Vendor') ?? '').toLowerCase().split(/[^a-z0-9]/);
    const vendor = gpuVendors.find((name) => parts.includes(name)) ?? 'unknown';
    found.push(
      newDict([
        ['vendor', vendor],
        ['model', fields.get('Device') ?? ''],
      ]),
    );
  }
  return found;
}

export async function gpuGrains(ctx: GrainContext): Promise<PlainDict> {
  const none = newDict([
    ['num_gpus', 0],
    ['gpus', []],
  ]);
  if (ctx.opts['enable_lspci'] === false || ctx.opts['enable_gpu_grains'] === false) return none;
  // Without a PCI bus lspci prints nothing, so the process is not started.
  const lspci = isDirectory('/sys/bus/pci/devices') ? which('lspci') : null;
  if (!lspci) return none;
  const { stdout } = await ctx.exec(lspci, ['-vmm']);
  const gpus = parseGpus(stdout);
  return newDict([
    ['num_gpus', gpus.length],
    ['gpus', gpus],
  ]);
}
