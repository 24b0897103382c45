// `halite cluster init`: the keys of a new cluster on its first master, and the block for its configuration.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { dictOf } from '../../../base/codec/value.ts';
import type { MasterOpts } from '../../../base/config/index.ts';
import { giveTo, placeNew } from '../../../base/crypto/key-files.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import { busKeyBytes, busKeyFile, busKeyText } from '../../../engine/cluster/bus-keys.ts';
import { identityFile, newIdentityPem } from '../../../engine/cluster/identity.ts';
import { readClusterOptions } from '../../../engine/cluster/options.ts';
import type { Terminal } from '../../io.ts';

export interface ClusterWork {
  readonly opts: MasterOpts;
  readonly words: readonly string[];
  readonly dryRun: boolean;
  readonly io: Terminal;
  readonly configDir: string;
}

export async function initCluster({ opts, words, dryRun, io, configDir }: ClusterWork): Promise<void> {
  const [name, ...servers] = words;
  if (name === undefined || servers.length === 0) {
    throw new HaliteError('cli.usage', 'cluster init takes a name and the addresses of nats-servers', {
      hint: 'For example: halite cluster init prod tls://n1:4222 tls://n2:4222 tls://n3:4222',
    });
  }
  // The same reader as that of the master: what is printed below works there.
  const insecure = servers.some((server) => /^nats:\/\/(?!127\.|localhost|\[::1\])/.test(server));
  readClusterOptions(
    dictOf([
      ['name', name],
      ['servers', servers],
      ['insecure', insecure],
    ]),
  );
  const files = [
    {
      file: join(opts.pki_dir, busKeyFile),
      what: 'the key that seals what masters tell each other',
      make: newBusKey,
    },
    { file: join(opts.pki_dir, identityFile), what: 'the identity of this master', make: newIdentityPem },
  ];
  for (const { file, what, make } of files) {
    if (existsSync(file)) io.out(`${file} is there already and stays: ${what}\n`);
    else if (dryRun) io.out(`${file} would be made: ${what}\n`);
    else {
      mkdirSync(opts.pki_dir, { recursive: true, mode: 0o700 });
      const isNew = await placeNew(file, make(), 0o400);
      await giveTo(String(opts.user), [file]);
      io.out(isNew ? `${file} was made: ${what}\n` : `${file} is there already and stays: ${what}\n`);
    }
  }
  const list = servers.map((server) => `    - ${server}`).join('\n');
  io.out(`\nPut this into ${configDir}/master.d/cluster.conf, then restart the master:\n\n`);
  io.out(`cluster:\n  name: ${name}\n  servers:\n${list}\n`);
  if (insecure)
    io.out(
      '  # Without TLS everybody in this network can remove or delay what masters tell each other, but not read it.\n  insecure: true\n',
    );
}

const newBusKey = (): string => busKeyText([[1, randomBytes(busKeyBytes)]]);
