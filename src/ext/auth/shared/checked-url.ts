// Addresses to which passwords are sent.
import { isIP } from 'node:net';
import { HaliteError } from 'halite/sdk';

const isHere = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || (isIP(host) === 4 && host.startsWith('127.'));

/** The address; refused when a password would cross the network without encryption. */
export function checkedUrl(what: string, text: string): string {
  const wrong = (why: string): never => {
    throw new HaliteError('config.value', `external_auth: ${what}: ${why}`);
  };
  const url = URL.canParse(text) ? new URL(text) : wrong(`${JSON.stringify(text)} is not an address`);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') wrong('only https and http are possible');
  if (url.protocol === 'http:' && !isHere(url.hostname)) wrong('passwords need https, except on this machine');
  return text;
}
