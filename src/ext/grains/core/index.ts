// The core grains: everything about the machine that Salt's own core module reports on Linux.
import { createHash } from 'node:crypto';
import os from 'node:os';
import { defineGrain, type GrainContext, isProxyMinion, newDict, type PlainDict } from 'halite/sdk';
import { readText, readTrimmed } from 'halite/sdk/fs';
import { which } from 'halite/sdk/system';
import { shellSplit } from 'halite/sdk/text';
import { deviceTreeGrains, firmwareGrains, gpuGrains } from './hardware.ts';
import { initSystem, selinuxGrain, systemdGrain } from './init-system.ts';
import { localeGrains } from './locale.ts';
import { askOnce } from './memo.ts';
import { networkGrains } from './network.ts';
import { readDistribution, releaseGrains } from './os-release.ts';
import { memoryGrains, processorGrains } from './processor.ts';
import { pythonGrains, versionGrains } from './software.ts';
import { virtualGrains } from './virtual.ts';

function identityGrains(ctx: GrainContext): PlainDict {
  const id = String(ctx.opts['id'] ?? '');
  const digest = BigInt(`0x${createHash('sha256').update(id).digest('hex')}`);
  const grains = newDict([
    ['id', id],
    ['master', ctx.opts['master'] ?? ''],
    ['server_id', Number(digest % 2147483648n)],
    ['cwd', process.cwd()],
  ]);
  if (ctx.opts['append_domain'] !== undefined) grains['append_domain'] = ctx.opts['append_domain'];
  const machine = readTrimmed('/etc/machine-id') ?? readTrimmed('/var/lib/dbus/machine-id');
  if (machine !== undefined) grains['machine_id'] = machine;
  return grains;
}

function kernelGrains(): PlainDict {
  return newDict([
    ['kernel', os.type()],
    ['nodename', os.hostname()],
    ['kernelrelease', os.release()],
    ['kernelversion', os.version()],
    ['cpuarch', os.machine()],
  ]);
}

/** `[name, value or null]` pairs of the kernel's command line. */
export function parseKernelParams(text: string): [string, string | null][] {
  return shellSplit(text).map((word) => {
    const parts = word.split('=');
    const value = parts.length === 2 ? (parts[1] as string).replace(/^"+|"+$/g, '') : null;
    return [parts[0] as string, value];
  });
}

function pathGrains(): PlainDict {
  const path = (process.env['PATH'] ?? '').trim();
  const grains = newDict([
    ['path', path],
    ['systempath', path.split(':')],
  ]);
  const cmdline = readText('/proc/cmdline');
  try {
    if (cmdline !== undefined) grains['kernelparams'] = parseKernelParams(cmdline);
  } catch {
    // Unbalanced quotes on the boot line: the grain stays absent.
  }
  return grains;
}

/** Debian's name for the architecture of this program. */
const debianArchitectures: Readonly<Record<string, string>> = {
  x64: 'amd64',
  arm64: 'arm64',
  ia32: 'i386',
  s390x: 's390x',
  riscv64: 'riscv64',
};

/** The architecture of packages, which can differ from the kernel's word size. dpkg is run only when that is unclear. */
async function packageArchitecture(ctx: GrainContext, family: string): Promise<string> {
  const machine = os.machine();
  if (family === 'Debian') {
    const known = debianArchitectures[process.arch];
    const dpkg = which('dpkg');
    if (known || !dpkg) return known ?? machine;
    return (await askOnce(ctx, dpkg, ['--print-architecture'])).stdout.trim() || machine;
  }
  if (family !== 'RedHat' && family !== 'Suse') return machine;
  const rpm = which('rpm');
  const answer = rpm ? (await askOnce(ctx, rpm, ['--eval', '%{_host_cpu}'])).stdout.trim() : '';
  return answer || machine;
}

function psCommand(virtual: unknown, family: string): string {
  if (virtual === 'openvzhn') {
    return 'ps -fH -p $(grep -l "^envID:[[:space:]]*0\\$" /proc/[0-9]*/status | sed -e "s=/proc/\\([0-9]*\\)/.*=\\1=")  | awk \'{ $7=""; print }\'';
  }
  return family === 'NILinuxRT' ? 'ps -o user,pid,ppid,tty,time,comm' : 'ps -efHww';
}

async function collect(ctx: GrainContext): Promise<PlainDict> {
  const distribution = readDistribution();
  const family = String(distribution['os_family']);
  // Everything that needs a child process or the resolver runs in parallel.
  const [network, systemd, selinux, gpus, architecture, virtual, python] = await Promise.all([
    networkGrains(ctx),
    systemdGrain(ctx),
    selinuxGrain(ctx),
    gpuGrains(ctx),
    packageArchitecture(ctx, family),
    virtualGrains(ctx),
    pythonGrains(ctx),
  ]);
  const grains = Object.assign(identityGrains(ctx), network, pathGrains(), localeGrains(), gpus, kernelGrains());
  if (systemd !== undefined) grains['systemd'] = systemd;
  if (selinux !== undefined) grains['selinux'] = selinux;
  grains['init'] = initSystem();
  Object.assign(grains, distribution, processorGrains(), deviceTreeGrains());
  grains['osarch'] = architecture;
  Object.assign(grains, memoryGrains(), firmwareGrains(), virtual);
  grains['ps'] = psCommand(virtual['virtual'], family);
  const release = String(distribution['osrelease'] ?? '');
  if (release)
    Object.assign(grains, releaseGrains(String(distribution['os']), String(distribution['osfullname']), release));
  return Object.assign(grains, versionGrains(), python);
}

/** What a proxy minion says of the machine it runs on; Salt has the same names. */
const proxyNames = new Set(
  (
    'cpuarch cwd dns efi gpus hwaddr_interfaces id ip4_gw ip6_gw ip_gw kernelparams locale_info machine_id master nodename ' +
    'num_gpus osarch path ps pythonexecutable pythonpath pythonversion saltpath saltversion saltversioninfo systempath virtual ' +
    'virtual_subtype zmqversion haliteversion nodeversion'
  ).split(' '),
);

/** The system of a proxy is its device, which a collector of its type knows: here it is `proxy`. */
function ofProxy(machine: PlainDict): PlainDict {
  const grains = newDict(Object.entries(machine).filter(([name]) => proxyNames.has(name)));
  for (const name of ['kernel', 'kernelrelease', 'kernelversion', 'os', 'os_family', 'osfullname', 'osrelease'])
    grains[name] = 'proxy';
  return Object.assign(grains, { osfinger: 'proxy-proxy', osrelease_info: ['proxy'], fqdns: [], mem_total: 0 });
}

export default defineGrain({
  name: 'core',
  doc: 'Operating system, hardware, network, locale and versions of this machine.',
  priority: 0,
  proxies: ['*'],
  collect: async (ctx) => (isProxyMinion(ctx.opts) ? ofProxy(await collect(ctx)) : collect(ctx)),
});
