// Transports by name.
import { describe, expect, it } from 'vitest';
import { getTransport } from './transports.ts';

describe('getTransport', () => {
  it.each(['zeromq', 'tcp', 'ws'])('finds %s', async (name) => expect((await getTransport(name)).name).toBe(name));

  it.each(['udp', '', 'toString', '__proto__'])('refuses %j and lists the transports', async (name) => {
    await expect(getTransport(name)).rejects.toMatchObject({
      code: 'config.value',
      hint: expect.stringContaining('zeromq, tcp, ws'),
    });
  });
});
