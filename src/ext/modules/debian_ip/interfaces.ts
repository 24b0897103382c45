// /etc/network/interfaces: reading it, and writing an interface into it.

import { dirname } from 'node:path';
import { newDict, type PlainDict, pyStr, type Value } from 'halite/sdk';
import { existsSync, listDir, readText, writeFileSync } from 'halite/sdk/fs';
import { lines, words } from 'halite/sdk/text';
import {
  blockLines,
  bonding,
  bridging,
  ethtool,
  type Family,
  families,
  fileName,
  fits,
  isEthtool,
  settingError,
} from './options.ts';

export interface Adapter {
  enabled?: boolean;
  hotplug?: boolean;
  type?: string;
  sources?: string[];
  readonly blocks: Partial<Record<Family, PlainDict>>;
}

const mainFile = '/etc/network/interfaces';
const folder = '/etc/network/interfaces.d/';

/** Adds a line of a block. */
function addOption(block: PlainDict, option: string, text: string): void {
  const into = (key: string, name: string): void => {
    block[key] ??= newDict();
    (block[key] as PlainDict)[name] = text;
  };
  const hook = /^((?:pre-|post-)?(?:up|down))$/.exec(option)?.[1];
  if (hook) {
    const key = `${hook.replace('-', '_')}_cmds`;
    block[key] = [...((block[key] as Value[] | undefined) ?? []), text];
  } else if (option === 'bond-master') block['master'] = text;
  else if (/^bond[-_]/.test(option)) into('bonding', option.slice(5));
  else if (/^bridge[-_]/.test(option)) into('bridging', option.slice(7));
  else if (isEthtool(option)) into('ethtool', option);
  else if (option === 'address' && block['address'] !== undefined)
    block['addresses'] = [...((block['addresses'] as Value[] | undefined) ?? []), text];
  else if (option.startsWith('dns-')) block[option.replaceAll('-', '_')] = words(text);
  else block[option.replaceAll('-', '_')] = text;
}

/** The interfaces of files in this format, by name. */
export function parseInterfaces(text: string, adapters: Map<string, Adapter> = new Map()): Map<string, Adapter> {
  const adapter = (name: string): Adapter => {
    const known = adapters.get(name) ?? { blocks: {} };
    adapters.set(name, known);
    return known;
  };
  let block: PlainDict = newDict();
  for (const line of lines(text)) {
    if (line.trim() === '' || line.trimStart().startsWith('#')) continue;
    const [first = '', ...rest] = words(line);
    if (first === 'iface') {
      const [name, family, method] = rest;
      if (rest.length !== 3) throw settingError(`Interface file malformed: ${line.trim()}.`);
      block = newDict(Object.entries({ addrfam: family as string, proto: method as string }));
      adapter(name as string).blocks[family as Family] = block;
    } else if (/^\s/.test(line)) addOption(block, first, line.trim().slice(first.length).trim());
    else if (first === 'auto') for (const name of rest) adapter(name).enabled = true;
    else if (first === 'allow-hotplug') for (const name of rest) adapter(name).hotplug = true;
    else if (first.startsWith('source')) {
      const sources = adapter('source');
      sources.type = 'source';
      sources.sources = [...(sources.sources ?? []), rest[0] ?? ''];
    }
  }
  for (const [name, { blocks, type }] of adapters)
    if (type !== 'source' && Object.keys(blocks).length === 0) adapters.delete(name);
  return adapters;
}

export function allInterfaces(): Map<string, Adapter> {
  const adapters = parseInterfaces(readText(mainFile) ?? '');
  for (const name of listDir(folder)) parseInterfaces(readText(`${folder}${name}`) ?? '', adapters);
  return adapters;
}

/** The part of the file about an interface. */
export function render(name: string, adapter: Adapter): string {
  if (adapter.type === 'source') return (adapter.sources ?? []).map((source) => `\nsource ${source}\n`).join('');
  const text: string[] = [];
  if (adapter.enabled) text.push(`auto ${name}`);
  if (adapter.hotplug) text.push(`allow-hotplug ${name}`);
  for (const family of families) {
    const block = adapter.blocks[family];
    if (!block?.['proto']) continue;
    text.push(`iface ${name} ${family} ${pyStr(block['proto'])}`, ...blockLines(block));
  }
  return text.map((line) => `${line}\n`).join('');
}

/** Lines with their line ends, and the empty last line that Salt adds. */
export const asLines = (text: string): string[] => text.split('\n').map((line) => `${line}\n`);

const commands = ['up_cmds', 'pre_up_cmds', 'post_up_cmds', 'down_cmds', 'pre_down_cmds', 'post_down_cmds'];

/** Options of one kind of interface: bond, bridge, slave, vlan. */
function typeOptions(type: string, opts: PlainDict, name: string, family: Family, block: PlainDict): void {
  if (type !== 'bridge') {
    const tool = ethtool(opts, name);
    if (Object.keys(tool).length > 0) block['ethtool'] = tool;
  }
  if (type === 'bridge') block['bridging'] = bridging(opts);
  if (type === 'bond')
    block['bonding'] = newDict([...Object.entries(bonding(opts, name)), ['slaves', opts['slaves'] ?? '']]);
  if (type === 'slave') block['master'] = opts['master'] ?? '';
  if (type === 'vlan') block['vlan_raw_device'] = name.replace(/\.\d*/, '');
  if (['bridge', 'bond', 'slave', 'vlan'].includes(type)) block['addrfam'] = family;
}

const familyOptions = ['ipaddr', 'address', 'ipaddresses', 'addresses', 'gateway', 'proto'];

/** The settings of a state as an adapter. */
export function adapterOf(name: string, type: string, enabled: boolean, given: PlainDict): Adapter {
  const adapter: Adapter = { type, enabled, hotplug: Boolean(given['hotplug']), blocks: {} };
  if (type === 'source') return { type, sources: [pyStr(given['source'] ?? '')], blocks: {} };
  const opts = type === 'slave' ? newDict([...Object.entries(given), ['proto', 'manual']]) : given;
  const blocks: Record<Family, PlainDict> = { inet: newDict(), inet6: newDict() };
  for (const family of families) typeOptions(type, opts, name, family, blocks[family]);
  for (const [option, value] of Object.entries(opts)) {
    if (option === 'mode' || commands.includes(option)) continue;
    const prefix = /^ipv([46])(.*)$/.exec(option);
    const only: Family | undefined = prefix
      ? prefix[1] === '4'
        ? 'inet'
        : 'inet6'
      : familyOptions.includes(option)
        ? 'inet'
        : undefined;
    if (only) blocks[only]['addrfam'] = only;
    const file = fileName(prefix ? (prefix[2] ?? '') : option);
    const key = file.replaceAll('-', '_');
    const list = file.startsWith('dns-') && typeof value === 'string' ? words(value) : value;
    for (const family of families) {
      if (!fits(file, value, family) || (only && only !== family)) continue;
      if (only || !(key in blocks[family])) blocks[family][key] = list;
    }
  }
  for (const family of families) {
    for (const key of commands) if (key in opts) blocks[family][key] = opts[key] as Value;
    const off = opts[family === 'inet' ? 'enable_ipv4' : 'enable_ipv6'] === false;
    if (!off && blocks[family]['addrfam'] === family) adapter.blocks[family] = blocks[family];
  }
  return adapter;
}

/** Writes an interface into the common file, or into its own file. */
export function writeInterface(name: string, adapter: Adapter, filename: string | null): string {
  const text = render(name, adapter);
  const adapters = allInterfaces().set(name, adapter);
  const target = filename ? (filename.startsWith('/') ? filename : `${folder}${filename}`) : mainFile;
  if (!existsSync(dirname(target))) throw settingError(`${dirname(target)} cannot be written.`);
  const whole = [...adapters].map(([key, value]) => render(key, value)).join('');
  writeFileSync(target, filename ? text : whole);
  return text;
}
