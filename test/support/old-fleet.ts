// One master with a real minion of every old release, and the tree of files that they are asked about.
import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { it } from 'vitest';
import type { Deployment, Implementation } from './deployment.ts';
import { type OldVersion, prepareRelease } from './old-releases.ts';

export interface OldPeer {
  readonly version: OldVersion;
  readonly id: string;
  /** Undefined when this release cannot be had here; why was said. */
  readonly implementation: Implementation | undefined;
}

/** The releases as peers; those that cannot be had are named once, and their tests skipped. */
export const oldPeers = (versions: readonly OldVersion[]): OldPeer[] =>
  versions.map((version) => {
    const got = prepareRelease(version);
    if ('missing' in got) console.error(`SKIPPED: ${got.missing}`);
    return {
      version,
      id: `m-${version.replaceAll('.', '-')}`,
      implementation: 'missing' in got ? undefined : got,
    };
  });

export const big = randomBytes(700_000);
export const sha256 = (data: Buffer | string): string => createHash('sha256').update(data).digest('hex');

const tree: Readonly<Record<string, string | Buffer>> = {
  'salt/top.sls': "base:\n  '*': [rendered]\n",
  'salt/rendered.sls': `{{ opts['root_dir'] }}/rendered:
  file.managed:
    - source: salt://templates/greeting
    - template: jinja
`,
  'salt/assigned.sls': `{{ opts['root_dir'] }}/assigned:
  file.managed:
    - source: salt://body
`,
  'salt/templates/greeting': 'hello {{ pillar.get("who") }} from {{ grains["id"] }}\n',
  'salt/body': 'the body\n',
  'salt/big': big,
  'salt/_modules/own.py': "def hi():\n    return 'hi from ' + __grains__['id']\n",
  'pillar/top.sls': "base:\n  '*': [who]\n",
  'pillar/who.sls': 'who: world\ndeep: {er: [1, {last: "{{ grains.id }}"}]}\n',
};

/** What minions of any release may be asked for, below `srv`; and a program that assigns the state `assigned` to all of them. */
export function writeTree(fleet: Deployment): void {
  for (const [name, content] of Object.entries(tree)) {
    const file = fleet.path('srv', name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  mkdirSync(fleet.path('srv/salt/empty'), { recursive: true });
  symlinkSync('body', fleet.path('srv/salt/link'));
  const program = fleet.path('classify');
  writeFileSync(program, '#!/bin/sh\necho "classes: [assigned]"\n');
  chmodSync(program, 0o755);
  // An answer to find_job takes longer on a machine that runs so many Pythons.
  const config = `master_tops: {ext_nodes: ${program}}\ngather_job_timeout: 30\n`;
  writeFileSync(fleet.path('etc/master.d/tree.conf'), config);
}

/** One test per release, from one command that asked them all. */
export function eachPeer(peers: readonly OldPeer[], test: (peer: OldPeer) => void | Promise<void>): void {
  for (const peer of peers) it.skipIf(!peer.implementation)(peer.version, () => test(peer));
}
