// Small texts with a meaning: jids, durations, dates, addresses, minion ids.

import { parseHostPort } from '../../../src/base/config/master-address.ts';
import { parseDateText } from '../../../src/base/util/date-text.ts';
import { isJid, isValidMinionId, jidToMillis, jidToTime, parseDuration } from '../../../src/base/util/index.ts';
import {
  formatInterface,
  formatIp,
  formatNetwork,
  inNetwork,
  networkOf,
  parseInterface,
  parseIp,
  parseNetwork,
} from '../../../src/base/util/ip.ts';
import { strftime } from '../../../src/base/util/strftime.ts';
import { parseLocalTime, parseTime } from '../../../src/base/util/strptime.ts';
import { yamlKey } from '../../../src/base/util/yaml-key.ts';
import { type FuzzTarget, hold, read, textOf } from '../engine/target.ts';

const now = new Date('2026-11-16T01:00:00Z');

const target: FuzzTarget = {
  maxLength: 100,
  tokens: [
    '20261116010000000000',
    '_1',
    '1h30m',
    ' days',
    '5pm',
    'Monday',
    '2026-11-16',
    'T01:02:03',
    'Z',
    '+02:00',
    '%Y-%m-%d',
    '%H:%M:%S',
    '%f',
    '%j',
    '%%',
    '10.0.0.1',
    '/24',
    '/255.255.0.0',
    '::1',
    'fe80::1%eth0',
    '::ffff:1.2.3.4',
    ':',
    '[::1]:4506',
    '\0',
  ],
  seeds: [
    '20261116010000000000',
    '90s',
    '2026-11-16 01:02:03\0%Y-%m-%d %H:%M:%S',
    '10.0.0.0/8',
    '2001:db8::/32',
    'web1.example',
  ],
  run: (bytes) => {
    const [text = '', format = '%c'] = textOf(bytes).split('\0');
    if (isJid(text)) hold(!text.includes('/') && typeof jidToTime(text) === 'string', 'a jid is harmless');
    hold(jidToMillis(text) === undefined || isJid(text), 'only jids have a time');
    const seconds = read(() => parseDuration(text));
    if (seconds !== undefined) hold(seconds >= 0, 'a duration is not negative');
    const at = parseDateText(text, now);
    hold(at === undefined || !Number.isNaN(at.getTime()), 'a date is a date');
    for (const parse of [parseTime, parseLocalTime]) {
      const found = read(() => parse(text, format));
      hold(found === undefined || !Number.isNaN(found.getTime()), 'a time is a time');
    }
    strftime(now, text);
    const address = parseIp(text);
    if (address) hold(formatIp(parseIp(formatIp(address))!) === formatIp(address), 'an address written is read');
    const network = parseNetwork(text);
    if (network)
      hold(
        formatNetwork(parseNetwork(formatNetwork(network))!) === formatNetwork(network),
        'a network written is read',
      );
    const both = parseInterface(text);
    if (both)
      hold(inNetwork(both.address, networkOf(both)) && formatInterface(both) !== '', 'an interface is in its network');
    if (isValidMinionId(text))
      hold(!/[\0/\\]/.test(text) && text !== '' && text !== '.' && text !== '..', 'an id is a file name');
    read(() => parseHostPort(text));
    yamlKey(text);
  },
};
export default target;
