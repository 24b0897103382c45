// Configuration files of master and minion: read whole, or refused with the file named.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeOptions } from '../../../src/base/config/docs.ts';
import { loadMasterConfig, loadMinionConfig } from '../../../src/base/config/index.ts';
import { HaliteError } from '../../../src/base/errors/index.ts';
import { type FuzzTarget, hold, ownFolder, textOf } from '../engine/target.ts';
import { yamlTokens } from './yaml.ts';

const names = [...describeOptions('master'), ...describeOptions('minion')].map(({ name }) => `${name}: `);
const facts = { hostname: () => 'host', resolve: () => [], readFile: () => undefined, addresses: () => ['10.0.0.1'] };
let folder: string | undefined;

const target: FuzzTarget = {
  tokens: [...yamlTokens, ...names],
  // The option tables are large: thousands of options are looked at whatever the file says.
  mostSteps: (length) => 400_000 + 20_000 * length,
  seeds: [
    '\u0000file_roots:\n  base: [/srv]\n',
    '\u0001master: [a, b:4506]\nid: 7\n',
    '\u0000nodegroups: {a: L@x}\npeer: {.*: [test.ping]}\n',
  ],
  run: (bytes) => {
    const kind = (bytes[0] ?? 0) % 2 === 0 ? 'master' : 'minion';
    // Includes could name any file of this machine.
    const text = textOf(bytes.slice(1)).replaceAll('include', 'exclude');
    folder ??= ownFolder();
    writeFileSync(join(folder, kind), text);
    const request = { configDir: folder, env: {}, facts };
    try {
      const loaded = kind === 'master' ? loadMasterConfig(request) : loadMinionConfig({ ...request, minionId: 'm' });
      hold(typeof loaded.opts.id === 'string' && loaded.opts.id !== '', 'there is an id');
      hold(typeof loaded.opts.pki_dir === 'string', 'paths are texts');
      for (const { message } of loaded.problems)
        hold(typeof message === 'string' && message !== '', 'a problem says what');
    } catch (error) {
      if (!(error instanceof HaliteError)) throw error;
      hold(error.code.startsWith('config.'), `an error of the configuration, not ${error.code}: ${error.message}`);
    }
  },
};
export default target;
