// Reads the `master` option: one address or many, with or without port.
import { isIP, isIPv6 } from 'node:net';
import { HaliteError } from '../errors/index.ts';

export interface MasterAddress {
  readonly host: string;
  /** Request port of this master. */
  readonly port: number;
}

interface AddressOpts {
  readonly master: string | readonly string[];
  readonly master_port: number;
  readonly master_uri_format: string;
}

const bad = (text: string, why: string): HaliteError =>
  new HaliteError('config.value', `master '${text}': ${why}`, {
    hint: "Write master as 'host', 'host:port', '10.0.0.1:4506' or '[fe80::1]:4506'.",
    details: { option: 'master' },
  });

function portOf(text: string, digits: string): number {
  const port = /^\d+$/.test(digits) ? Number(digits) : Number.NaN;
  if (!(port >= 1 && port <= 65535)) throw bad(text, `'${digits}' is not a port`);
  return port;
}

/** `host`, `host:port`, `[ipv6]:port`, or a bare IPv6 address; the port is undefined when none is given. */
export function parseHostPort(text: string): { host: string; port: number | undefined } {
  const inBrackets = /^\[([^\]]*)\](.*)$/.exec(text);
  if (inBrackets) {
    const [, host = '', rest = ''] = inBrackets;
    if (!isIPv6(host)) throw bad(text, `'${host}' is not an IPv6 address`);
    if (rest !== '' && !rest.startsWith(':')) throw bad(text, `'${rest}' after the address is not a port`);
    return { host, port: rest === '' ? undefined : portOf(text, rest.slice(1)) };
  }
  const parts = text.split(':');
  if (parts.length === 2) return { host: checkedHost(text, parts[0] ?? ''), port: portOf(text, parts[1] ?? '') };
  return { host: checkedHost(text, text), port: undefined };
}

/** Salt allows letters, digits, dots, hyphens and underscores. */
function checkedHost(text: string, host: string): string {
  if (isIP(host) || (host !== '' && host.length <= 255 && /^[A-Za-z0-9._-]+$/.test(host))) return host;
  throw bad(text, 'it is not a host name');
}

/** The masters in the order they are written. With `master_uri_format: ip_only` colons are part of the address. */
export function masterAddresses(opts: AddressOpts): MasterAddress[] {
  const list = typeof opts.master === 'string' ? [opts.master] : opts.master;
  return list.map((text) => {
    if (opts.master_uri_format === 'ip_only') {
      if (!isIP(text)) throw bad(text, 'master_uri_format is ip_only, so it has to be an IP address');
      return { host: text, port: opts.master_port };
    }
    const { host, port } = parseHostPort(text.trim());
    return { host, port: port ?? opts.master_port };
  });
}
