// Archives of other programs and of attackers.
import { describe, expect, it } from 'vitest';
import { readTar, tarEnd, tarHeader, tarPadding } from './tar.ts';

const file = (name: string, content: string): Buffer =>
  Buffer.concat([
    tarHeader({ name, size: content.length, mode: 0o644, owner: 'root' }),
    Buffer.from(content),
    tarPadding(content.length),
  ]);

async function* chunks(parts: Iterable<Buffer>): AsyncGenerator<Buffer> {
  yield* parts;
}

async function names(parts: Iterable<Buffer>): Promise<string[]> {
  const found: string[] = [];
  for await (const { name } of readTar(chunks(parts))) found.push(name);
  return found;
}

function* endless(part: Buffer): Generator<Buffer> {
  for (;;) yield part;
}

describe('readTar', () => {
  it('reads what it writes, with long and foreign names, in any chunks', async () => {
    const long = `srv/${'ä'.repeat(120)}/top.sls`;
    const bytes = Buffer.concat([file('etc/salt/master', 'id: m\n'), file(long, 'x'.repeat(600)), tarEnd]);
    expect(await names([bytes])).toEqual(['etc/salt/master', long]);
    const single = Array.from(bytes, (byte) => Buffer.from([byte]));
    expect(await names(single)).toEqual(['etc/salt/master', long]);
  });

  it('passes the empty blocks between joined archives, but not blocks without an end', async () => {
    expect(await names([file('a', '1'), tarEnd, Buffer.alloc(20 * 512), file('b', '2'), tarEnd])).toEqual(['a', 'b']);
    await expect(names(endless(Buffer.alloc(64 * 1024)))).rejects.toThrow('empty blocks');
  });

  it('refuses an endless series of headers that describe no entry', async () => {
    const extended = tarHeader({ name: 'ä', size: 1, mode: 0o644, owner: 'root' }).subarray(0, 1024);
    await expect(names(endless(extended))).rejects.toThrow('describe no entry');
  });

  it('refuses an archive that ends in the middle', async () => {
    await expect(names([file('a', 'content').subarray(0, 515)])).rejects.toThrow('not complete');
  });
});
