// Facts about a process in psutil's shape.
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { testContext } from 'halite/testing';
import { describe, expect, it } from 'vitest';
import ps from './index.ts';

const ctx = testContext({ modules: [ps] });
const info = (attrs: string[] | string | null) => ctx.call('ps.proc_info', process.pid, attrs);

describe('proc_info', () => {
  it('returns groups of numbers as lists, like psutil’s tuples', async () => {
    const found = JSON.parse(JSON.stringify(await info(null)));
    expect(found).toMatchObject({ pid: process.pid, ppid: process.ppid, cwd: process.cwd(), nice: expect.any(Number) });
    const lengths = { uids: 3, gids: 3, cpu_times: 5, memory_info: 7, num_ctx_switches: 2, ionice: 2, io_counters: 6 };
    for (const [name, length] of Object.entries(lengths)) expect([name, found[name]?.length]).toEqual([name, length]);
    expect(found.uids[0]).toBe(process.getuid?.());
    expect(found.environ.PATH).toEqual(expect.any(String));
    expect(found.threads.map(([id]: number[]) => id)).toContain(process.pid);
  });

  it('names the files that are open', async () => {
    const path = fileURLToPath(import.meta.url);
    const fd = openSync(path, 'r');
    try {
      const { open_files } = (await info(['open_files'])) as { open_files: unknown[][] };
      expect(open_files.find(([, number]) => number === fd)).toMatchObject([path, fd, 0, 'r', expect.any(Number)]);
    } finally {
      closeSync(fd);
    }
  });

  it('requires a list of known names', async () => {
    expect(await info(['name', 'ppid'])).toMatchObject({ ppid: process.ppid });
    await expect(info('name')).rejects.toThrow("invalid attrs type <class 'str'>");
    await expect(info(['name', 'bogus'])).rejects.toThrow('invalid attr name bogus');
  });
});
