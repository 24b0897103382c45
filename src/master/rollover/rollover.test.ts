import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fingerprint } from '../../base/crypto/index.ts';
import { nullLogger } from '../../base/log/index.ts';
import { KeyRing, loadMasterKeys } from '../sign-in/master-keys.ts';
import { MinionKeys } from './minion-keys.ts';
import { Rollover, recoverKeys } from './rollover.ts';

let folder: string;
const options = () => ({ pki_dir: join(folder, 'pki'), cachedir: folder, keysize: 2048, key_pass: null });
const names = (): string[] => readdirSync(options().pki_dir).sort();
let changes = 0;

async function started(): Promise<{ ring: KeyRing; rollover: Rollover }> {
  const { current, former } = recoverKeys(options(), await loadMasterKeys(options()));
  const ring = new KeyRing(current);
  ring.use(current, former);
  const changed = async (): Promise<void> => {
    changes += 1;
  };
  return { ring, rollover: new Rollover({ opts: options(), log: nullLogger(), ring, changed }) };
}
const announced = { at: 0, graceMs: 86_400_000 };

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'halite-rollover-'));
  changes = 0;
  mkdirSync(options().pki_dir);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a new key for the master', () => {
  it('goes forth, back and to its end, with copies of what is replaced', async () => {
    const { ring, rollover } = await started();
    const first = fingerprint(ring.current.pem);
    const backup = await rollover.announce(announced);
    expect(readdirSync(String(backup))).toEqual(['master.pem', 'master.pub']);
    const next = String(rollover.record?.to);
    expect(await rollover.announce({ ...announced, at: 5 })).toBeUndefined();
    expect(rollover.record).toMatchObject({ to: next, at: 5, phase: 'announced' });
    await rollover.switchOver();
    expect([fingerprint(ring.current.pem), fingerprint(String(ring.former?.pem))]).toEqual([next, first]);
    await rollover.back();
    expect([fingerprint(ring.current.pem), fingerprint(String(ring.former?.pem))]).toEqual([first, next]);
    await expect(rollover.announce(announced)).rejects.toThrow('has been switched already');
    await rollover.end();
    expect(names()).toEqual(['master.pem', 'master.pub']);
    expect(ring.former).toBeUndefined();
    expect(changes).toBe(2);
  });

  it('goes on wherever a kill stopped the switch', async () => {
    const { rollover } = await started();
    await rollover.announce(announced);
    const pki = options().pki_dir;
    const kept = join(folder, 'kept');
    const copy = (from: string, to: string): void => {
      rmSync(to, { recursive: true, force: true });
      mkdirSync(to);
      for (const name of readdirSync(from)) copyFileSync(join(from, name), join(to, name));
    };
    copy(pki, kept);
    await rollover.switchOver();
    const [record, to] = [readFileSync(join(pki, 'master_rollover.json')), String(rollover.record?.to)];
    const read = (name: string): Buffer => readFileSync(join(kept, name));
    // Each with one more step of the switch done: the record, the old key, the new key.
    const steps: ReadonlyArray<() => void> = [
      () => writeFileSync(join(pki, 'master_rollover.json'), record),
      () => writeFileSync(join(pki, 'master_old.pem'), read('master.pem')),
      () => {
        rmSync(join(pki, 'master.pem'));
        writeFileSync(join(pki, 'master.pem'), read('master_next.pem'));
      },
      () => rmSync(join(pki, 'master_next.pem')),
    ];
    for (let done = 1; done <= steps.length; done++) {
      copy(kept, pki);
      for (const step of steps.slice(0, done)) step();
      const { ring } = await started();
      expect(fingerprint(ring.current.pem)).toBe(to);
      expect(ring.former).toBeDefined();
      expect(fingerprint(readFileSync(join(pki, 'master.pub'), 'utf8'))).toBe(to);
      expect(existsSync(join(pki, 'master_next.pem'))).toBe(false);
    }
    // Killed while it was ended.
    rmSync(join(pki, 'master_old.pem'));
    expect((await started()).rollover.record).toBeUndefined();
  });

  it('says what is wrong with a damaged record or a missing key', async () => {
    const { rollover } = await started();
    await rollover.announce(announced);
    rmSync(join(options().pki_dir, 'master_next.pem'));
    await expect(rollover.switchOver()).rejects.toThrow('master_next.pem is not there');
    writeFileSync(join(options().pki_dir, 'master_rollover.json'), '{"phase": 3}');
    await expect(started()).rejects.toThrow('master_rollover.json cannot be read');
  });

  it('replaces a key that others know at once, and believes nothing that it signs', async () => {
    const { ring, rollover } = await started();
    const before = fingerprint(ring.current.pem);
    await rollover.compromised();
    expect(fingerprint(ring.current.pem)).not.toBe(before);
    expect([ring.former, rollover.statement]).toEqual([undefined, '']);
    expect(names()).not.toContain('master_old.pem');
    const again = await started();
    expect([again.ring.former, again.rollover.record?.phase]).toEqual([undefined, 'switched']);
  });
});

it('a sign-in from elsewhere does not change how a minion is answered', () => {
  const failed = (error: unknown): never => {
    throw error;
  };
  const keys = new MinionKeys(folder, failed);
  keys.signedIn('m1', { host: '10.0.0.1', trusts: 'old', presented: 'old' });
  for (let n = 0; n < 20; n++) keys.signedIn('m1', { host: `10.0.9.${n}`, trusts: '', presented: 'new' });
  expect(keys.of('m1').signIns.length).toBeLessThanOrEqual(4);
  keys.signedIn('m1', { host: '10.0.0.1', trusts: 'old', presented: 'old' });
  keys.signedIn('m1', { host: '10.6.6.6', trusts: '', presented: 'new' });
  keys.told('m1', { trusts: 'a', next: 'b' });
  const restarted = new MinionKeys(folder, failed);
  for (const each of [keys, restarted]) expect(each.presented('m1', '10.0.0.1')).toBe('old');
  expect(restarted.of('m1').told).toEqual({ trusts: 'a', next: 'b' });
});
