import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { PyFloat, type Value } from '../codec/value.ts';
import { convertOption } from './convert.ts';
import { generateMinionId } from './host-names.ts';
import { parseHostPort } from './master-address.ts';
import { withDomain, withoutDomain } from './minion-id.ts';
import type { OptionType } from './options/row.ts';
import { belowRoot } from './root-dir.ts';

interface Vectors {
  ids: [string, string, Record<string, string>, string[], string][];
  roots: [string, string, string][];
  hosts: [string, [string, number | null] | null][];
  domains: [string, string | boolean, string][];
  appended: [string, string, string][];
  types: [OptionType, Value, boolean][];
}

const file = fileURLToPath(new URL('../../../test/fixtures/config/vectors.json', import.meta.url));
const vectors = JSON.parse(readFileSync(file, 'utf8')) as Vectors;

describe('answers recorded from Salt', () => {
  it.each(vectors.ids)('id of %s (%s)', (hostname, fqdn, files, addresses, wanted) => {
    const facts = {
      hostname: () => hostname,
      resolve: () => [fqdn],
      readFile: (path: string) => files[path],
      addresses: () => addresses,
    };
    expect(generateMinionId(facts)).toBe(wanted);
  });

  it.each(vectors.roots)('root %s with path %s', (root, path, wanted) => {
    expect(belowRoot(root, path)).toBe(wanted);
  });

  /** Salt fails on a bracketed address without port, and ignores garbage after one. */
  const better = new Set(['[::1]', '[::1]x']);
  it.each(vectors.hosts.filter(([text]) => !better.has(text)))('address %s', (text, wanted) => {
    if (wanted === null) expect(() => parseHostPort(text)).toThrow(/master/);
    else expect(parseHostPort(text)).toEqual({ host: wanted[0], port: wanted[1] ?? undefined });
  });

  it.each(vectors.domains)('id %s without domain %s', (id, domain, wanted) => {
    expect(withoutDomain(id, domain)).toBe(wanted);
  });

  it.each(vectors.appended)('id %s with domain %s', (id, domain, wanted) => {
    expect(withDomain(id, domain)).toBe(wanted);
  });

  // The vectors do not distinguish 4.0 from 4; convert.test.ts does. Empty values for text keep the default silently.
  const types = vectors.types.filter(([kind, value]) => value !== 4 && !(kind === 'str' && value === null));
  it.each(types)('type %s accepts %j: %s', (kind, value, silent) => {
    const result = convertOption({ name: 'x', type: kind, doc: '' }, value);
    expect(result.ok && result.lossy !== true).toBe(silent);
  });

  it('warns about whole floats where an integer is wanted, and uses them', () => {
    expect(convertOption({ name: 'x', type: 'int', doc: '' }, new PyFloat(4))).toEqual({
      ok: true,
      value: 4,
      lossy: true,
    });
  });
});

describe('IPv6 masters', () => {
  it('accepts brackets without a port and refuses text after them', () => {
    expect(parseHostPort('[::1]')).toEqual({ host: '::1', port: undefined });
    expect(() => parseHostPort('[::1]x')).toThrow(/not a port/);
    expect(() => parseHostPort('host:70000')).toThrow(/not a port/);
  });
});
