// Cookies that are stored between requests: of a session, and cookie jars in the formats of Python.

import { isDict, pyStr, type Value } from 'halite/sdk';
import { pack, unpack } from 'halite/sdk/codec';
import { existsSync, readFileSync, writeFileSync } from 'halite/sdk/fs';

/** The `Cookie` header of an earlier answer. */
export function sessionCookie(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  try {
    const kept = unpack(readFileSync(path));
    const cookie = isDict(kept) && !(kept instanceof Map) ? kept['Cookie'] : undefined;
    return cookie === undefined ? undefined : pyStr(cookie);
  } catch {
    return undefined;
  }
}

export function keepSession(path: string, cookie: string): void {
  writeFileSync(path, pack({ Cookie: cookie }), { mode: 0o600 });
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  readonly domain: string;
  readonly expires: Date | undefined;
}

function parse(header: string): Cookie | undefined {
  const [first = '', ...rest] = header.split(';').map((part) => part.trim());
  const at = first.indexOf('=');
  if (at <= 0) return undefined;
  const about = new Map(
    rest.map((part) => {
      const [key = '', ...value] = part.split('=');
      return [key.toLowerCase(), value.join('=')] as const;
    }),
  );
  const expires = about.has('expires') ? new Date(about.get('expires') ?? '') : undefined;
  return {
    name: first.slice(0, at),
    value: first.slice(at + 1),
    path: about.get('path') ?? '/',
    domain: about.get('domain') ?? '',
    expires: expires && !Number.isNaN(expires.getTime()) ? expires : undefined,
  };
}

/** One cookie for each `Set-Cookie`: commas can also be part of a date. */
const split = (header: string): string[] => header.split(/,(?=\s*[^;,=\s]+=)/);

/** Writes the cookies of an answer to a jar: `lwp`, or `mozilla` for the format of Netscape. */
export function saveJar(path: string, format: Value, header: string | undefined): void {
  const cookies = split(header ?? '').flatMap((item) => parse(item) ?? []);
  const mozilla = format === 'mozilla';
  const lines = cookies.map((cookie) => {
    if (mozilla) {
      const wide = cookie.domain.startsWith('.') ? 'TRUE' : 'FALSE';
      const until = cookie.expires ? Math.floor(cookie.expires.getTime() / 1000) : '';
      return [cookie.domain, wide, cookie.path, 'FALSE', until, cookie.name, cookie.value].join('\t');
    }
    const until = cookie.expires?.toISOString().replace('T', ' ').replace(/\..*/, 'Z');
    return [
      `Set-Cookie3: ${cookie.name}=${cookie.value}`,
      `path="${cookie.path}"`,
      `domain="${cookie.domain}"`,
      ...(until === undefined ? ['discard'] : [`expires="${until}"`]),
      'version=0',
    ].join('; ');
  });
  const head = mozilla ? '# Netscape HTTP Cookie File\n' : '#LWP-Cookies-2.0\n';
  writeFileSync(path, head + lines.map((line) => `${line}\n`).join(''), { mode: 0o600 });
}
