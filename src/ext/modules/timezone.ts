// Execution module `timezone`: the machine's time zone and hardware clock.

import { join, normalize } from 'node:path';
import { commandError, defineModule, dictGet, fn, invocationError, type ModuleContext, p } from 'halite/sdk';
import {
  isFile,
  osReason,
  pathExists,
  readFileSync,
  readlinkSync,
  readText,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'halite/sdk/fs';
import { askTool, runTool, which } from 'halite/sdk/system';
import { lines } from 'halite/sdk/text';
import { zoneAbbreviation, zoneOffset } from 'halite/sdk/time';

const zones = '/usr/share/zoneinfo/';
const local = '/etc/localtime';
const family = (ctx: ModuleContext): string => String(dictGet(ctx.grains, 'os_family') ?? '');

/** timedatectl only works where systemd runs; elsewhere the files are read. */
const hasTimedatectl = (): boolean => which('timedatectl') !== null && pathExists('/run/systemd/system');

async function timedatectl(ctx: ModuleContext): Promise<string> {
  const { retcode, stdout, stderr } = await askTool(ctx, 'timedatectl', []);
  if (retcode !== 0) throw commandError(`timedatectl failed: ${stderr.trim()}`);
  return stdout;
}

function zoneByLink(): string | undefined {
  try {
    const target = normalize(join('/etc', readlinkSync(local)));
    return target.startsWith(zones) ? target.slice(zones.length) : undefined;
  } catch {
    return undefined;
  }
}

async function zone(ctx: ModuleContext): Promise<string> {
  if (hasTimedatectl()) {
    const output = await timedatectl(ctx);
    const found = /^\s*Time ?zone:\s+(\S+)/m.exec(output)?.[1];
    if (found) return found;
    throw commandError(`Failed to parse timedatectl output: ${output}`);
  }
  if (['Debian', 'Gentoo'].includes(family(ctx))) {
    const text = readText('/etc/timezone');
    if (text !== undefined) return text.trim();
  }
  const linked = zoneByLink();
  if (linked === undefined) throw commandError('Unable to determine timezone');
  return linked;
}

function requireZone(timezone: string): string {
  const path = normalize(join(zones, timezone));
  if (!path.startsWith(zones) || !isFile(path)) throw invocationError(`Can't find a local timezone "${timezone}"`);
  return path;
}

async function setZone(timezone: string, ctx: ModuleContext): Promise<boolean | string> {
  const path = normalize(join(zones, timezone));
  if (!path.startsWith(zones) || !isFile(path)) return `Zone does not exist: ${zones}${timezone}`;
  if (hasTimedatectl()) await askTool(ctx, 'timedatectl', ['set-timezone', timezone]);
  rmSync(local, { force: true });
  symlinkSync(path, local);
  if (['Debian', 'Gentoo'].includes(family(ctx))) writeFileSync('/etc/timezone', `${timezone.trim()}\n`);
  return true;
}

async function hardwareClock(ctx: ModuleContext): Promise<string | null> {
  if (hasTimedatectl()) {
    const output = await timedatectl(ctx);
    const found = /rtc in local tz:\s*(\w+)/i.exec(output)?.[1];
    if (!found) throw commandError(`Failed to parse timedatectl output: ${output}`);
    return found.toLowerCase() === 'yes' ? 'localtime' : 'UTC';
  }
  const setting = /^\s*UTC=(.*)$/m.exec(readText('/etc/default/rcS') ?? '')?.[1];
  if (setting !== undefined) return setting.toLowerCase() === 'yes' ? 'UTC' : 'localtime';
  const adjtime = readText('/etc/adjtime');
  if (adjtime !== undefined) return lines(adjtime).at(-1) ?? '';
  if (pathExists('/dev/rtc')) throw commandError('Unable to get hwclock timezone from /etc/adjtime');
  return null;
}

async function setHardwareClock(clock: string, ctx: ModuleContext): Promise<boolean> {
  if (clock !== 'UTC' && clock !== 'localtime') throw invocationError("Only 'UTC' and 'localtime' are allowed");
  if (hasTimedatectl()) {
    return (
      (await runTool(ctx, 'timedatectl', ['set-local-rtc', clock === 'localtime' ? 'true' : 'false'])).retcode === 0
    );
  }
  const rcs = readText('/etc/default/rcS');
  if (rcs !== undefined)
    writeFileSync('/etc/default/rcS', rcs.replace(/^UTC=.*$/m, `UTC=${clock === 'UTC' ? 'yes' : 'no'}`));
  const kept = lines(readText('/etc/adjtime') ?? '0.0 0 0.0\n0\nUTC').slice(0, 2);
  writeFileSync('/etc/adjtime', `${[...kept, clock === 'UTC' ? 'UTC' : 'LOCAL'].join('\n')}\n`);
  return true;
}

const timezone = p.string({ doc: 'name of the zone, such as Europe/Berlin' });

export default defineModule({
  name: 'timezone',
  doc: 'The machine’s time zone and hardware clock.',
  reads: ['get_zone', 'get_zonecode', 'get_offset', 'zone_compare', 'get_hwclock'],
  functions: {
    get_zone: fn({
      doc: 'The name of the zone.',
      examples: ["salt '*' timezone.get_zone"],
      run: (_, ctx) => zone(ctx),
    }),
    get_zonecode: fn({
      doc: 'The abbreviation in use now, such as CET or CEST.',
      examples: ["salt '*' timezone.get_zonecode"],
      run: () => zoneAbbreviation(),
    }),
    get_offset: fn({
      doc: 'The offset from UTC in use now, such as +0100.',
      examples: ["salt '*' timezone.get_offset"],
      run: () => zoneOffset(),
    }),
    set_zone: fn({
      doc: 'Sets the zone.',
      examples: ["salt '*' timezone.set_zone 'America/Denver'"],
      params: { timezone },
      run: (args, ctx) => setZone(args.timezone, ctx),
    }),
    zone_compare: fn({
      doc: 'Whether the machine uses that zone’s rules.',
      examples: ["salt '*' timezone.zone_compare 'America/Denver'"],
      params: { timezone },
      run(args) {
        const path = requireZone(args.timezone);
        try {
          return readFileSync(local).equals(readFileSync(path));
        } catch (error) {
          throw commandError(`Failed to read ${local} to determine current timezone: ${osReason(error)}`);
        }
      },
    }),
    get_hwclock: fn({
      doc: 'Whether the hardware clock runs in UTC or in local time.',
      examples: ["salt '*' timezone.get_hwclock"],
      run: (_, ctx) => hardwareClock(ctx),
    }),
    set_hwclock: fn({
      doc: 'Sets whether the hardware clock runs in UTC or in local time.',
      examples: ["salt '*' timezone.set_hwclock UTC"],
      params: { clock: p.string({ doc: 'UTC or localtime' }) },
      run: (args, ctx) => setHardwareClock(args.clock, ctx),
    }),
  },
});
