// What kind of (virtual) machine or container this is.

import { type GrainContext, newDict, type PlainDict } from 'halite/sdk';
import { isDirectory, isFile, pathExists, readText, readTrimmed, statSync } from 'halite/sdk/fs';
import { which } from 'halite/sdk/system';
import { lines } from 'halite/sdk/text';
import { askOnce } from './memo.ts';

interface Kind {
  virtual: string;
  subtype?: string;
}

const ownNames = ['qemu', 'kvm', 'oracle', 'xen', 'bochs', 'chroot', 'uml', 'systemd-nspawn'];
const detectVirtWords: readonly (readonly [string, Kind])[] = [
  ['vmware', { virtual: 'VMware' }],
  ['microsoft', { virtual: 'VirtualPC' }],
  ['lxc', { virtual: 'container', subtype: 'LXC' }],
  ['podman', { virtual: 'container', subtype: 'Podman' }],
  ['docker', { virtual: 'container', subtype: 'Docker' }],
  ['amazon', { virtual: 'Nitro', subtype: 'Amazon EC2' }],
];

/** The grains for an output of `systemd-detect-virt`. */
export function kindByDetectVirt(output: string): Kind | undefined {
  if (ownNames.includes(output)) return { virtual: output };
  return detectVirtWords.find(([word]) => output.includes(word))?.[1];
}

const virtWhatWords: readonly (readonly [string, Kind])[] = [
  ['lxc', { virtual: 'container', subtype: 'LXC' }],
  ['docker', { virtual: 'container', subtype: 'Docker' }],
  ['vmware', { virtual: 'VMware' }],
  ['parallels', { virtual: 'Parallels' }],
  ['hyperv', { virtual: 'HyperV' }],
  ['ibm_power-kvm', { virtual: 'kvm' }],
  ['ibm_power-lpar_shared', { virtual: 'LPAR', subtype: 'shared' }],
  ['ibm_power-lpar_dedicated', { virtual: 'LPAR', subtype: 'dedicated' }],
];

/** The grains for the first known line of `virt-what`. */
export function kindByVirtWhat(output: string): Kind | undefined {
  for (const line of lines(output)) {
    if (['kvm', 'qemu', 'uml', 'xen'].includes(line)) return { virtual: line };
    const known = virtWhatWords.find(([word]) => line.includes(word));
    if (known) return known[1];
  }
  return undefined;
}

/** The grains for DMI strings; the kernel has the same data as `dmidecode`. */
export function kindByDmi(vendor: string, product: string, bios: string): Kind | undefined {
  const all = `${vendor}\n${product}\n${bios}`;
  if (all.includes('BHYVE')) return { virtual: 'bhyve' };
  if (vendor.includes('oVirt')) return { virtual: 'kvm', subtype: 'ovirt' };
  if (product.includes('RHEV Hypervisor')) return { virtual: 'kvm', subtype: 'rhev' };
  if (all.includes('VirtualBox')) return { virtual: 'VirtualBox' };
  if (all.includes('VMware')) return { virtual: 'VMware' };
  if (vendor.startsWith('Microsoft') && product.includes('Virtual Machine')) return { virtual: 'VirtualPC' };
  if (all.includes('Parallels Software')) return { virtual: 'Parallels' };
  if (['QEMU', 'Bochs', 'Google'].some((name) => vendor.startsWith(name)) || /^(QEMU|Bochs|SeaBIOS)/.test(bios)) {
    return { virtual: 'kvm' };
  }
  return undefined;
}

const dmi = (file: string): string => readTrimmed(`/sys/class/dmi/id/${file}`) ?? '';

async function detect(ctx: GrainContext): Promise<Kind | undefined> {
  const virtWhat = which('virt-what');
  if (virtWhat) {
    const { retcode, stdout } = await askOnce(ctx, virtWhat, []);
    return retcode === 0 ? kindByVirtWhat(stdout) : undefined;
  }
  const detectVirt = which('systemd-detect-virt');
  if (detectVirt) {
    const { retcode, stdout } = await askOnce(ctx, detectVirt, []);
    const kind = retcode === 0 ? kindByDetectVirt(stdout.trim()) : undefined;
    if (kind) return kind;
  }
  return kindByDmi(dmi('sys_vendor'), dmi('product_name'), dmi('bios_vendor'));
}

function openVz(kind: Kind): void {
  if (isFile('/proc/vz/version')) kind.virtual = 'openvzhn';
  else if (isFile('/proc/vz/veinfo')) kind.virtual = 'openvzve';
  const envId = /^envID:\s+(\d+)$/m.exec(readText('/proc/self/status') ?? '')?.[1];
  if (envId !== undefined) kind.virtual = Number(envId) === 0 ? 'openvzhn' : 'openvzve';
}

function xen(kind: Kind, product: string): void {
  if (!isDirectory('/proc/sys/xen') && !isDirectory('/sys/bus/xen') && !isDirectory('/proc/xen')) return;
  const capabilities = readText('/proc/xen/capabilities');
  if (isFile('/proc/xen/xsd_kva')) kind.subtype = 'Xen Dom0';
  else if (product === 'HVM domU') kind.subtype = 'Xen HVM DomU';
  else if (capabilities !== undefined) kind.subtype = capabilities.includes('control_d') ? 'Xen Dom0' : 'Xen PV DomU';
  else if (isDirectory('/sys/bus/xen/drivers/xenconsole')) kind.subtype = 'Xen PV DomU';
  if (kind.subtype?.toLowerCase().includes('dom')) kind.virtual = 'xen';
}

function byProduct(kind: Kind, product: string): void {
  if (product.includes('VirtualBox')) kind.virtual = 'VirtualBox';
  else if (product.includes('RHEV Hypervisor')) Object.assign(kind, { virtual: 'kvm', subtype: 'rhev' });
  else if (product.includes('oVirt Node')) Object.assign(kind, { virtual: 'kvm', subtype: 'ovirt' });
  else if (product.includes('Google')) kind.virtual = 'gce';
  else if (product.includes('BHYVE')) kind.virtual = 'bhyve';
}

function containers(kind: Kind): void {
  const cgroup = readText('/proc/1/cgroup') ?? '';
  if (cgroup.includes(':/lxc/')) Object.assign(kind, { virtual: 'container', subtype: 'LXC' });
  else if (cgroup.includes(':/kubepods/')) kind.subtype = 'kubernetes';
  else if (cgroup.includes(':/libpod_parent/')) kind.subtype = 'libpod';
  else if ([':/system.slice/docker', ':/docker/', ':/docker-ce/'].some((part) => cgroup.includes(part))) {
    Object.assign(kind, { virtual: 'container', subtype: 'Docker' });
  }
  if (kind.subtype !== 'LXC' && readText('/proc/1/environ')?.includes('container=lxc')) {
    Object.assign(kind, { virtual: 'container', subtype: 'LXC' });
  }
}

function inChroot(): boolean {
  try {
    const own = statSync('/', { bigint: true });
    const init = statSync('/proc/1/root/.', { bigint: true });
    return own.ino !== init.ino || own.dev !== init.dev;
  } catch {
    return false;
  }
}

function amazon(kind: Kind): void {
  if (!['qemu', 'kvm', 'xen', 'amazon'].includes(kind.virtual)) return;
  const product = dmi('product_name');
  if (dmi('sys_vendor') === 'Amazon EC2') {
    if (kind.virtual !== 'xen') kind.virtual = 'Nitro';
    kind.subtype = product ? `Amazon EC2 (${product})` : 'Amazon EC2';
  } else if (dmi('product_version').includes('.amazon')) kind.subtype = 'Amazon EC2';
}

/** `virtual` and, where known, `virtual_subtype` and the Xen version. */
export async function virtualGrains(ctx: GrainContext): Promise<PlainDict> {
  const kind: Kind = { virtual: 'physical', ...(await detect(ctx)) };
  const product = dmi('product_name');
  if (inChroot()) kind.subtype = 'chroot';
  openVz(kind);
  xen(kind, product);
  if (readText('/proc/cpuinfo')?.includes('QEMU Virtual CPU')) kind.virtual = 'kvm';
  byProduct(kind, product);
  containers(kind);
  if (kind.subtype && kind.virtual === 'physical') kind.virtual = 'virtual';
  amazon(kind);
  const grains = newDict([['virtual', kind.virtual]]);
  if (kind.subtype) grains['virtual_subtype'] = kind.subtype;
  if (kind.virtual.includes('xen') && pathExists('/sys/hypervisor/version')) Object.assign(grains, xenVersion());
  return grains;
}

function xenVersion(): PlainDict {
  const parts = ['major', 'minor', 'extra'].map((name) => readTrimmed(`/sys/hypervisor/version/${name}`) ?? '');
  return newDict([
    ['virtual_hv_version', `${parts[0]}.${parts[1]}${parts[2]}`],
    ['virtual_hv_version_info', parts],
  ]);
}
