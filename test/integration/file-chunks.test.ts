// Large files between Halite master and minion, through a network that changes data and with keys that change during
// the transfer.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type CommandResult, Deployment, halite, runProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { LossyProxy } from '../support/faults.ts';

const megabyte = 1 << 20;
const big = randomBytes(24 * megabyte + 321);
const sessionSeconds = 3;
/** Only replies with chunks of files come in such portions. */
const isLarge = (bytes: Buffer): boolean => bytes.length > 10_000;

describe.each(['zeromq', 'tcp'] as const)('a large file over %s', (transport) => {
  let fleet: Deployment;
  let proxy: LossyProxy;
  let config: string;

  const fetch = (dest: string): Promise<CommandResult> => {
    const args = ['-c', config, 'cp.get_file', 'salt://big.bin', fleet.path(dest), '--out=json'];
    return runProgram(join(halite.bin, 'salt-call'), args, { timeoutMs: 120_000 });
  };
  const cameWhole = (dest: string): boolean => readFileSync(fleet.path(dest)).equals(big);

  beforeAll(async () => {
    fleet = await Deployment.create({ transport });
    mkdirSync(fleet.path('srv/salt'), { recursive: true });
    writeFileSync(fleet.path('srv/salt/big.bin'), big);
    writeFileSync(fleet.path('etc/master.d/chunks.conf'), `publish_session: ${sessionSeconds}\n`);
    await fleet.startMaster();
    proxy = await LossyProxy.to(fleet.ports.requests);
    config = fleet.configureMinion('m1');
    mkdirSync(join(config, 'minion.d'));
    writeFileSync(join(config, 'minion.d/proxy.conf'), `master_port: ${proxy.port}\n`);
  });
  afterEach(() => {
    proxy.onReply = () => undefined;
  });
  afterAll(async () => {
    await proxy?.close();
    await fleet?.destroy();
  });

  it('is complete when the session key changes during the transfer', async () => {
    let seen = 0;
    let aged: Promise<void> | undefined;
    const refused = (): boolean => /request refused.*load does not decrypt/.test(fleet.master.output());
    proxy.onReply = (bytes) => {
      seen += bytes.length;
      if (seen < 5 * megabyte) return undefined;
      // The key of the epoch before is taken for half an epoch more.
      const end = Date.now() + 1.6 * sessionSeconds * 1000;
      aged ??= eventually('the session key to be too old', () => Date.now() > end);
      return aged;
    };
    expect(refused()).toBe(false);
    const { stdout, stderr } = await fetch('rotated');
    expect([JSON.parse(stdout), stderr]).toEqual([{ local: fleet.path('rotated') }, '']);
    expect(cameWhole('rotated')).toBe(true);
    expect(refused()).toBe(true);
  });

  it('is complete although a chunk was changed in transit', async () => {
    let seen = 0;
    let changed = 0;
    proxy.onReply = (bytes) => {
      seen += bytes.length;
      if (changed > 0 || seen < 5 * megabyte || !isLarge(bytes)) return;
      bytes[bytes.length >> 1]! ^= 1;
      changed++;
    };
    await fetch('meddled');
    expect(changed).toBe(1);
    expect(cameWhole('meddled')).toBe(true);
  });

  it('is refused, with a reason, when every chunk is changed', async () => {
    proxy.onReply = (bytes) => {
      if (isLarge(bytes)) bytes[bytes.length >> 1]! ^= 1;
    };
    const { stdout, stderr, code } = await fetch('hostile');
    expect(code).not.toBe(0);
    expect(stdout + stderr).toContain('The chunk of big.bin at byte 0 does not authenticate');
    expect(existsSync(fleet.path('hostile'))).toBe(false);
  });
});
