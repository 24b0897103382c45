// Resolves a name to an address at every dial, so that a master with a new address is found without a restart.
import { connect, isIP, type Socket } from 'node:net';
import { Names } from './names.ts';

export interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

/** `[::1]` as written in configuration, without its brackets. */
export function bareHost(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
}

/** `address:port`, with brackets where IPv6 needs them. */
export function endpoint(address: string, port: number | string): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

const names = new Names();
/** The next address is tried when the one before has not answered for so long. */
const staggerMs = 250;
/** Unanswered by all of them. */
const givenUpMs = 4000;

export interface Place {
  readonly host: string;
  readonly port: number;
  readonly ipv6?: boolean;
  readonly sourceAddress?: string;
}

/**
 * One address of the host: of several the first that takes a connection, and when none does, one after the other
 * (`attempt` counts failed dials). Names give IPv6 addresses only when IPv6 is enabled, as in Salt.
 */
export async function resolveAddress(
  place: Place,
  attempt: number,
  known: Pick<Names, 'resolve'> = names,
): Promise<Address> {
  const name = bareHost(place.host);
  const literal = isIP(name);
  if (literal !== 0) return { address: name, family: literal === 6 ? 6 : 4 };
  const found = (await known.resolve(name, place.ipv6 === true ? 0 : 4)).map(
    ({ address, family }): Address => ({ address, family: family === 6 ? 6 : 4 }),
  );
  if (found.length === 1) return found[0]!;
  return (await firstThatAnswers(found, place)) ?? found[attempt % found.length]!;
}

function firstThatAnswers(addresses: readonly Address[], place: Place): Promise<Address | undefined> {
  const sockets: Socket[] = [];
  const timers: NodeJS.Timeout[] = [];
  let refused = 0;
  return new Promise<Address | undefined>((done) => {
    let next = 0;
    const dial = (): void => {
      const chosen = addresses[next++];
      if (!chosen) return;
      const localAddress = place.sourceAddress ? { localAddress: bareHost(place.sourceAddress) } : {};
      const socket = connect({ host: chosen.address, port: place.port, family: chosen.family, ...localAddress });
      sockets.push(socket);
      socket.once('connect', () => done(chosen));
      socket.once('error', () => {
        if (++refused === addresses.length) done(undefined);
        else dial();
      });
      timers.push(setTimeout(dial, staggerMs));
    };
    timers.push(setTimeout(() => done(undefined), givenUpMs));
    dial();
  }).finally(() => {
    for (const timer of timers) clearTimeout(timer);
    for (const socket of sockets) socket.destroy();
  });
}
