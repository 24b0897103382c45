// Sockets, connections and tests of reachability.
import dgram from 'node:dgram';
import { lookup } from 'node:dns/promises';
import {
  asNumber,
  dictOf,
  type ModuleContext,
  newDict,
  type PlainDict,
  pyStr,
  pythonError,
  type Value,
} from 'halite/sdk';
import { readText } from 'halite/sdk/fs';
import { formatIp, parseIp } from 'halite/sdk/net';
import { askTool, which } from 'halite/sdk/system';
import { lines, words } from 'halite/sdk/text';
import { canConnect } from '../shared/can-connect.ts';
import { addressFromHex } from '../status/proc.ts';

/** A host name or address without characters that have a meaning on a command line. */
export function sanitizeHost(host: string): string {
  return parseIp(host)
    ? host
    : host
        .slice(0, 255)
        .replace(/[^a-zA-Z0-9._-]/g, '')
        .replace(/^-+/, '');
}

const names = ['proto', 'recv-q', 'send-q', 'local-address', 'remote-address'];

/** `netstat -tulpnea`. */
export function parseNetstat(output: string): PlainDict[] {
  return lines(output).flatMap((line) => {
    const columns = words(line);
    const rest = line.startsWith('tcp')
      ? ['state', 'user', 'inode', 'program']
      : line.startsWith('udp')
        ? ['user', 'inode', 'program']
        : undefined;
    return rest ? [newDict([...names, ...rest].map((name, index) => [name, columns[index] ?? '']))] : [];
  });
}

/** `ss -tulpnea`. */
export function parseSs(output: string): PlainDict[] {
  return lines(output).flatMap((line) => {
    const columns = words(line);
    const isTcp = line.startsWith('tcp');
    if (!isTcp && !line.startsWith('udp')) return [];
    const field = (pattern: RegExp): Value => pattern.exec(columns.slice(6).join(' '))?.[1] ?? 0;
    const state = columns[1] === 'ESTAB' ? 'ESTABLISHED' : (columns[1] ?? '');
    const entries: [string, Value][] = [
      ['proto', columns[0] ?? ''],
      ['recv-q', columns[2] ?? ''],
      ['send-q', columns[3] ?? ''],
      ['local-address', columns[4] ?? ''],
      ['remote-address', columns[5] ?? ''],
      ...(isTcp ? [['state', state] as [string, Value]] : []),
      ['user', field(/\buid:(\d+)/)],
      ['inode', field(/\bino:(\d+)/)],
      ['program', field(/users:\(\("([^"]*)"/) || ''],
    ];
    return [newDict(entries)];
  });
}

export async function sockets(ctx: ModuleContext): Promise<PlainDict[]> {
  if (which('netstat')) return parseNetstat((await askTool(ctx, 'netstat', ['-tulpnea'])).stdout);
  return parseSs((await askTool(ctx, 'ss', ['-tulpnea'])).stdout);
}

const portOf = (text: string): number => Number.parseInt(text, 16);
const plainAddress = (hex: string): string => {
  const address = parseIp(addressFromHex(hex));
  return address ? formatIp(address) : hex;
};

/** Established TCP connections, numbered from 0. */
export function activeTcp(): Value {
  const found: PlainDict[] = [];
  for (const path of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const columns of lines(readText(path) ?? '')
      .slice(1)
      .map(words)) {
      if (columns[3] !== '01') continue;
      const [localAddress = '', localPort = ''] = (columns[1] ?? '').split(':');
      const [remoteAddress = '', remotePort = ''] = (columns[2] ?? '').split(':');
      found.push(
        newDict([
          ['local_addr', plainAddress(localAddress)],
          ['local_port', portOf(localPort)],
          ['remote_addr', plainAddress(remoteAddress)],
          ['remote_port', portOf(remotePort)],
        ]),
      );
    }
  }
  return dictOf(found.map((entry, index) => [index, entry] as const));
}

function tryUdp(host: string, port: number, milliseconds: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = dgram.createSocket(host.includes(':') ? 'udp6' : 'udp4');
    const timer = setTimeout(() => done(false), milliseconds);
    const done = (answer: boolean): void => {
      clearTimeout(timer);
      socket.close();
      resolve(answer);
    };
    socket.once('message', () => done(true));
    socket.once('error', () => done(false));
    socket.send('ping', port, host, (error) => {
      if (error) done(false);
    });
  });
}

/** Whether a port of a host answers, with Salt's message. */
export async function connect(host: string, port: string | null, kwargs: PlainDict): Promise<PlainDict> {
  const answer = (result: boolean, comment: string): PlainDict =>
    newDict([
      ['result', result],
      ['comment', comment],
    ]);
  if (!host) return answer(false, 'Required argument, host, is missing.');
  if (!port) return answer(false, 'Required argument, port, is missing.');
  const proto = kwargs['proto'] === 'udp' ? 'udp' : 'tcp';
  const family = kwargs['family'] === 'ipv4' ? 4 : kwargs['family'] === 'ipv6' ? 6 : 0;
  const about = `${proto} port ${pyStr(port)}`;
  let address: string;
  const number = Number(pyStr(port));
  // A port name, or a port out of range, fails in the lookup, as in Salt.
  if (!Number.isInteger(number) || number < 0 || number > 65535)
    return answer(false, `Unable to resolve host ${host} on ${about}`);
  try {
    address = (await lookup(sanitizeHost(host), { family })).address;
  } catch {
    return answer(false, `Unable to resolve host ${host} on ${about}`);
  }
  const milliseconds = (asNumber(kwargs['timeout'] ?? 5) ?? 5) * 1000;
  const reached = await (proto === 'udp'
    ? tryUdp(address, number, milliseconds)
    : canConnect(address, number, milliseconds));
  return answer(
    reached,
    `${reached ? 'Successfully connected' : 'Unable to connect'} to ${host} (${address}) on ${about}`,
  );
}

/** Sends the packet that wakes a machine. */
export function wakeOnLan(mac: string, broadcast: string, port: number): Promise<boolean> {
  const digits = mac.replace(/[:.-]/g, '');
  if (!/^[0-9a-fA-F]{12}$/.test(digits)) throw pythonError('ValueError', 'Invalid MAC address');
  const packet = Buffer.concat([Buffer.alloc(6, 0xff), ...new Array<Buffer>(16).fill(Buffer.from(digits, 'hex'))]);
  return new Promise((resolve, reject) => {
    const socket = dgram.createSocket('udp4');
    socket.bind(() => {
      socket.setBroadcast(true);
      socket.send(packet, port, broadcast, (error) => {
        socket.close();
        if (error) reject(error);
        else resolve(true);
      });
    });
    socket.once('error', reject);
  });
}
