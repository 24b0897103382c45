// Creates, changes and removes physical volumes, volume groups and logical volumes.

import { isTruthy, type ModuleContext, newDict, type PlainDict, pyStr, type Value } from 'halite/sdk';
import { existsSync } from 'halite/sdk/fs';
import { runTool } from 'halite/sdk/system';
import { display } from './display.ts';

export const deviceList = (devices: Value): string[] =>
  Array.isArray(devices) ? devices.map(pyStr) : pyStr(devices).split(',');

/** `--yes`, or `-qq`, which asks no questions and prints nothing. */
const consent = (force: boolean): string => (force ? '--yes' : '-qq');

/** Options that Salt passes on: with a value, and without. */
const passed = {
  pv: 'metadatasize dataalignment dataalignmentoffset pvmetadatacopies metadatacopies metadataignore restorefile norestorefile labelsector setphysicalvolumesize'.split(
    ' ',
  ),
  vg: 'addtag alloc autobackup clustered maxlogicalvolumes maxphysicalvolumes metadatatype vgmetadatacopies metadatacopies physicalextentsize zero'.split(
    ' ',
  ),
  lv: 'activate chunksize contiguous discards stripes stripesize minor persistent mirrors monitor permission poolmetadatasize readahead regionsize type virtualsize zero'.split(
    ' ',
  ),
};
const bare = ['nosync', 'noudevsync', 'ignoremonitoring', 'thin'];

function further(kwargs: PlainDict, known: readonly string[]): string[] {
  return Object.entries(kwargs)
    .filter(([key, value]) => known.includes(key) && isTruthy(value))
    .flatMap(([key, value]) => [`--${key}`, pyStr(value)]);
}

/** The given text on success, otherwise the tool's error message. */
async function said(tool: string, args: readonly string[], success: string, ctx: ModuleContext): Promise<string> {
  const { retcode, stderr } = await runTool(ctx, tool, args);
  return retcode === 0 ? success : stderr.trim();
}

export async function makePhysical(
  devices: readonly string[],
  options: { override: boolean; force: boolean; kwargs: PlainDict },
  ctx: ModuleContext,
): Promise<Value> {
  const fresh: string[] = [];
  for (const device of devices) {
    if (!existsSync(device)) return `${device} does not exist`;
    const known = isTruthy(await display('pv', device, { quiet: true }, ctx));
    if (known && !options.override) return `Device "${device}" is already an LVM physical volume.`;
    if (!known) fresh.push(device);
  }
  if (fresh.length === 0) return true;
  const args = [consent(options.force), ...fresh, ...further(options.kwargs, passed.pv)];
  const { retcode, stderr } = await runTool(ctx, 'pvcreate', args);
  if (retcode !== 0) return stderr.trimEnd();
  for (const device of devices)
    if (!isTruthy(await display('pv', device, {}, ctx))) return `Device "${device}" was not affected.`;
  return true;
}

/** `pvremove` and `pvresize`, for the devices that are physical volumes. */
export async function changePhysical(
  tool: 'pvremove' | 'pvresize',
  devices: readonly string[],
  options: { override: boolean; force: boolean },
  ctx: ModuleContext,
): Promise<Value> {
  const known: string[] = [];
  for (const device of devices) {
    if (isTruthy(await display('pv', device, {}, ctx))) known.push(device);
    else if (!options.override) return `${device} is not a physical volume`;
  }
  if (known.length === 0) return true;
  const { retcode, stderr } = await runTool(ctx, tool, [consent(options.force), ...known]);
  if (retcode !== 0) return stderr.trimEnd();
  if (tool === 'pvresize') return true;
  for (const device of devices)
    if (isTruthy(await display('pv', device, { quiet: true }, ctx))) return `Device "${device}" was not affected.`;
  return true;
}

export async function makeGroup(
  name: string,
  devices: readonly string[],
  force: boolean,
  kwargs: PlainDict,
  ctx: ModuleContext,
): Promise<PlainDict> {
  const args = [name, ...devices, consent(force), ...further(kwargs, passed.vg)];
  const text = await said('vgcreate', args, `Volume group "${name}" successfully created`, ctx);
  return newDict([...Object.entries(await display('vg', name, {}, ctx)), ['Output from vgcreate', text]]);
}

export async function extendGroup(name: string, devices: readonly string[], force: boolean, ctx: ModuleContext) {
  const success = `Volume group "${name}" successfully extended`;
  return newDict([['Output from vgextend', await said('vgextend', [name, consent(force), ...devices], success, ctx)]]);
}

export const removeGroup = (name: string, force: boolean, ctx: ModuleContext): Promise<string> =>
  said('vgremove', [name, consent(force)], `Volume group "${name}" successfully removed`, ctx);

export const removeLogical = (name: string, group: string, force: boolean, ctx: ModuleContext): Promise<string> =>
  said('lvremove', [`${group}/${name}`, consent(force)], `Logical volume "${name}" successfully removed`, ctx);

export interface LogicalSpec {
  readonly lvname: string;
  readonly vgname: string;
  readonly size: Value;
  readonly extents: Value;
  readonly snapshot: string | null;
  readonly pv: string | null;
  readonly thinvolume: boolean;
  readonly thinpool: boolean;
  readonly force: boolean;
  readonly kwargs: PlainDict;
}

export async function makeLogical(spec: LogicalSpec, ctx: ModuleContext): Promise<Value> {
  const { lvname, vgname, size, extents, snapshot, pv, thinvolume, thinpool, force, kwargs } = spec;
  if (size && extents) return 'Error: Please specify only one of size or extents';
  if (thinvolume && thinpool) return 'Error: Please set only one of thinvolume or thinpool to True';
  if (!size && extents && thinvolume) return 'Error: Thin volume size cannot be specified as extents';
  if (!size && !extents) return 'Error: Either size or extents must be specified';
  const named = thinvolume ? ['--thin', '-n', lvname] : thinpool ? ['--thinpool', lvname] : ['-n', lvname];
  const where = snapshot ? ['-s', `${vgname}/${snapshot}`] : [vgname];
  const large = size ? [thinvolume ? '-V' : '-L', pyStr(size)] : ['-l', pyStr(extents)];
  const flags = Object.keys(kwargs)
    .filter((key) => bare.includes(key))
    .map((key) => `--${key}`);
  const args = [...named, ...where, ...large, ...(pv ? [pv] : []), ...flags, ...further(kwargs, passed.lv)];
  const text = await said('lvcreate', [...args, consent(force)], `Logical volume "${lvname}" created.`, ctx);
  const made = await display('lv', `/dev/${vgname}/${lvname}`, {}, ctx);
  return newDict([...Object.entries(made), ['Output from lvcreate', text]]);
}

export async function resizeLogical(
  tool: 'lvresize' | 'lvextend',
  path: string,
  options: { size: Value; extents: Value; force: boolean; resizefs: boolean },
  ctx: ModuleContext,
): Promise<PlainDict> {
  const { size, extents, force, resizefs } = options;
  if (Boolean(size) === Boolean(extents)) {
    ctx.log.error(
      size ? 'Error: Please specify only one of size or extents' : 'Error: Either size or extents must be specified',
    );
    return newDict();
  }
  const how = force ? (tool === 'lvresize' ? '--force' : '--yes') : '-qq';
  const large = size ? ['-L', pyStr(size)] : ['-l', pyStr(extents)];
  const success = `Logical volume "${path}" successfully ${tool === 'lvresize' ? 'resized' : 'extended'}.`;
  const text = await said(tool, [how, ...(resizefs ? ['--resizefs'] : []), ...large, path], success, ctx);
  return newDict([[`Output from ${tool}`, text]]);
}
