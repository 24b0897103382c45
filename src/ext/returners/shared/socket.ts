// Sends bytes over a new TCP connection, or in one UDP packet.
export interface Receiver {
  readonly host: string;
  readonly port: number;
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 20_000;

/** Resolves when the other side has received everything and the connection is closed. */
export async function sendBytes({ host, port, signal, timeoutMs = defaultTimeoutMs }: Receiver, data: Uint8Array) {
  const { connect } = await import('node:net');
  await new Promise<void>((resolve, reject) => {
    const socket = connect({ host, port, signal });
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error(`no answer within ${timeoutMs / 1000} seconds`)));
    socket.once('error', reject);
    socket.once('close', (failed) => {
      if (!failed) resolve();
    });
    // The answer is ignored, but an unread byte would keep the connection open.
    socket.resume();
    socket.end(data);
  });
}

export async function sendPacket({ host, port }: Receiver, data: Uint8Array): Promise<void> {
  const [{ createSocket }, { isIPv6 }, { lookup }] = await Promise.all([
    import('node:dgram'),
    import('node:net'),
    import('node:dns/promises'),
  ]);
  const { address } = await lookup(host);
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.send(data, port, address, (error) => (error ? reject(error) : resolve()));
    });
  } finally {
    socket.close();
  }
}
