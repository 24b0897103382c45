// Test mode: what is refused inside, what is allowed, and what is recorded.
import { expect, it } from 'vitest';
import {
  assertMayCall,
  assertMayRun,
  assertMayWrite,
  inReader,
  inReadOnly,
  isReadOnly,
  noteScratch,
  onlyReads,
  ReadOnlyError,
} from './read-only.ts';

it('refuses nothing outside', () => {
  expect(isReadOnly()).toBe(false);
  assertMayWrite('write', '/etc/motd');
  assertMayRun('rm');
  assertMayCall('file.remove');
});

it('refuses to write, to run and to call, and names the state', async () => {
  const attempt = (change: () => void) => inReadOnly('my.state', [], change);
  await expect(attempt(() => assertMayWrite('write', '/etc/motd'))).rejects.toThrow(ReadOnlyError);
  await expect(attempt(() => assertMayWrite('write', '/etc/motd'))).rejects.toThrow(
    'my.state tried to write /etc/motd in test mode',
  );
  await expect(attempt(() => assertMayRun('rm'))).rejects.toThrow('my.state tried to run the program rm in test mode');
  await expect(attempt(() => assertMayCall('file.remove'))).rejects.toThrow('my.state tried to call file.remove');
});

it('records what was refused even if the state caught the error', async () => {
  const { value, refused } = await inReadOnly('my.state', [], async () => {
    await Promise.resolve();
    try {
      assertMayWrite('remove', '/etc/motd');
    } catch {}
    return 'done';
  });
  expect(value).toBe('done');
  expect(refused).toEqual(['my.state tried to remove /etc/motd in test mode']);
});

it('allows a read-only function to call and run, but not to write', async () => {
  await inReadOnly('my.state', [], () =>
    inReader('pkg.version', () => {
      assertMayRun('dpkg-query');
      assertMayCall('cmd.run');
      expect(() => assertMayWrite('write', '/etc/motd')).toThrow(
        'pkg.version (called by my.state) tried to write /etc/motd in test mode',
      );
    }),
  );
});

it('allows writing below the cache and below temporary folders', async () => {
  await inReadOnly('my.state', ['/var/cache/minion'], () => {
    assertMayWrite('write', '/var/cache/minion/a');
    expect(() => assertMayWrite('write', '/var/cache/minion-other')).toThrow(ReadOnlyError);
    noteScratch('/tmp/made');
    assertMayWrite('remove', '/tmp/made');
    assertMayWrite('write', '/tmp/made/a');
  });
  await expect(inReadOnly('my.state', [], () => assertMayWrite('write', '/tmp/made/a'))).rejects.toThrow();
});

it('refuses nothing inside onlyReads', async () => {
  await inReadOnly('my.state', [], async () => {
    await onlyReads(async () => {
      await Promise.resolve();
      assertMayRun('git');
      assertMayCall('cmd.run');
    });
    expect(isReadOnly()).toBe(true);
  });
});
