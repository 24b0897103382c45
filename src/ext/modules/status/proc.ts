// Readers of /proc in the shapes of the `status` functions.
import { newDict, type PlainDict, type Value } from 'halite/sdk';
import { readText } from 'halite/sdk/fs';
import { lines, pyFloat, words } from 'halite/sdk/text';

/** Digits are a whole number, other numbers a float, anything else stays text. */
export function number(text: string): Value {
  if (/^\d+$/.test(text)) return Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text);
  return text.trim() !== '' && !Number.isNaN(Number(text)) ? pyFloat(Number(text)) : text;
}

const rows = (path: string): string[] => lines(readText(path) ?? '').filter((line) => line !== '');
const at = (columns: readonly string[], index: number): Value => number(columns[index] ?? '');

export function cpuStats(): PlainDict {
  const found = newDict();
  for (const columns of rows('/proc/stat').map(words)) {
    const [name = ''] = columns;
    const rest = columns.slice(2).map(number);
    if (name === 'cpu') {
      const fields: [string, number][] = [
        ['idle', 4],
        ['iowait', 5],
        ['irq', 6],
        ['nice', 2],
        ['softirq', 7],
        ['steal', 8],
        ['system', 3],
        ['user', 1],
      ];
      found[name] = newDict(fields.map(([key, index]) => [key, at(columns, index)]));
    } else if (name === 'intr')
      found[name] = newDict([
        ['total', at(columns, 1)],
        ['irqs', rest],
      ]);
    else if (name === 'softirq')
      found[name] = newDict([
        ['total', at(columns, 1)],
        ['softirqs', rest],
      ]);
    else found[name] = at(columns, 1);
  }
  return found;
}

export function memInfo(): PlainDict {
  const found = newDict();
  for (const [name = '', value = '', unit] of rows('/proc/meminfo').map(words)) {
    const entry = newDict([['value', value]]);
    if (unit !== undefined) entry['unit'] = unit;
    found[name.replace(':', '')] = entry;
  }
  return found;
}

export function cpuInfo(): PlainDict {
  const found = newDict();
  for (const line of rows('/proc/cpuinfo')) {
    const [key = '', value = ''] = line.split(':');
    found[key.trim()] = key.trim() === 'flags' ? words(value) : value.trim();
  }
  return found;
}

const diskFields = [
  ...['major', 'minor', 'device', 'reads_issued', 'reads_merged', 'sectors_read', 'ms_spent_reading'],
  ...['writes_completed', 'writes_merged', 'sectors_written', 'ms_spent_writing', 'io_in_progress', 'ms_spent_in_io'],
  'weighted_ms_spent_in_io',
];

export function diskStats(): PlainDict {
  const found = newDict();
  for (const columns of rows('/proc/diskstats').map(words)) {
    found[columns[2] ?? ''] = newDict(diskFields.map((name, index) => [name, at(columns, index)]));
  }
  return found;
}

export function vmStats(): PlainDict {
  return newDict(
    rows('/proc/vmstat')
      .map(words)
      .map(([name = '', value = '']) => [name, number(value)]),
  );
}

/** Pairs of lines, names and numbers. Salt leaves the last column out. */
export function netStats(): PlainDict {
  const found = newDict();
  let headers: string[] = [''];
  for (const columns of rows('/proc/net/netstat').map(words)) {
    if (columns[0] !== headers[0]) {
      headers = columns;
      continue;
    }
    const names = headers.slice(1, -1);
    found[(headers[0] as string).replace(':', '')] = newDict(
      names.map((name, index) => [name, at(columns, index + 1)]),
    );
  }
  return found;
}

const deviceFields: readonly (readonly [string, number])[] = [
  ['rx_bytes', 0],
  ['rx_compressed', 6],
  ['rx_drop', 3],
  ['rx_errs', 2],
  ['rx_fifo', 4],
  ['rx_frame', 5],
  ['rx_multicast', 7],
  ['rx_packets', 1],
  ['tx_bytes', 8],
  ['tx_carrier', 14],
  ['tx_colls', 13],
  ['tx_compressed', 15],
  ['tx_drop', 11],
  ['tx_errs', 10],
  ['tx_fifo', 12],
  ['tx_packets', 9],
];

export function netDev(): PlainDict {
  const found = newDict();
  for (const line of rows('/proc/net/dev')) {
    const [name = '', counters] = line.split(':');
    if (counters === undefined) continue;
    const columns = words(counters);
    const iface = name.trim();
    found[iface] = newDict([
      ['iface', iface],
      ...deviceFields.map(([key, index]): [string, Value] => [key, at(columns, index)]),
    ]);
  }
  return found;
}

/** Remote addresses of established TCP connections to a port. */
export function remotesOfPort(port: number): string[] {
  const found = new Set<string>();
  for (const path of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const columns of rows(path).slice(1).map(words)) {
      const [address = '', hexPort = '0'] = (columns[2] ?? '').split(':');
      if (columns[3] === '01' && Number.parseInt(hexPort, 16) === port) found.add(addressFromHex(address));
    }
  }
  return [...found];
}

/** The kernel writes addresses as 32-bit words in the byte order of the machine. */
export function addressFromHex(hex: string): string {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) => (word.match(/../g) ?? []).reverse());
  if (bytes.length === 4) return bytes.map((byte) => Number.parseInt(byte, 16)).join('.');
  const mapped = bytes.slice(0, 12).join('') === '00000000000000000000ffff'.toUpperCase();
  if (mapped)
    return bytes
      .slice(12)
      .map((byte) => Number.parseInt(byte, 16))
      .join('.');
  const groups = bytes.flatMap((byte, index) =>
    index % 2 === 0 ? [`${byte}${bytes[index + 1] ?? ''}`.toLowerCase()] : [],
  );
  return groups.join(':');
}
