// Processor and memory, from /proc.
import { newDict, type PlainDict } from 'halite/sdk';
import { readText } from 'halite/sdk/fs';
import { lines, words } from 'halite/sdk/text';

/** `num_cpus`, `cpu_model` and `cpu_flags` from the text of /proc/cpuinfo. */
export function parseCpuInfo(text: string): PlainDict {
  let count = 0;
  let model = 'Unknown';
  let flags: string[] = [];
  for (const line of lines(text)) {
    const at = line.indexOf(':');
    if (at < 0) continue;
    const key = line.slice(0, at).trim();
    const value = (line.slice(at + 1).split(':')[0] ?? '').trim();
    if (key === 'processor') count++;
    else if (key === '# processors') count = Number(value);
    else if (key === 'vendor_id' || key === 'model name' || key === 'cpu') model = value;
    else if (key === 'flags' || key === 'Features') flags = words(value);
    else if (key === 'Processor') {
      model = value.split('-')[0] ?? value;
      count = 1;
    }
  }
  return newDict([
    ['num_cpus', count],
    ['cpu_model', model],
    ['cpu_flags', flags],
  ]);
}

/** `mem_total` and `swap_total` in MiB from the text of /proc/meminfo. */
export function parseMemInfo(text: string): PlainDict {
  const mib = (name: string): number =>
    Math.floor(Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0) / 1024);
  return newDict([
    ['mem_total', mib('MemTotal')],
    ['swap_total', mib('SwapTotal')],
  ]);
}

export const processorGrains = (): PlainDict => parseCpuInfo(readText('/proc/cpuinfo') ?? '');
export const memoryGrains = (): PlainDict => parseMemInfo(readText('/proc/meminfo') ?? '');
