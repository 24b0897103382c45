// One requirement of a Python package: `name[extra]>=1.2; marker`, an address, or a path.
import { isDirectory, isFile } from 'halite/sdk/fs';
import type { Condition } from './pep440.ts';

/** Name and conditions; the name is empty when it is only known after the installation. */
export type Requirement = { readonly name: string; readonly conditions: readonly Condition[] } | { problem: string };

const opaque: Requirement = { name: '', conditions: [] };
const archive = /\.(?:zip|tar\.gz|tgz|tar|tar\.bz2|tbz|tar\.xz|txz|tlz|tar\.lz|tar\.lzma|whl)$/i;
const scheme = /^(?:https?|file|ftp|ssh|(?:git|hg|svn|bzr)(?:\+[a-z]+)?):/i;

function conditionsOf(text: string): Condition[] | undefined {
  const bare = text.trim().replace(/^\((.*)\)$/s, '$1');
  if (bare === '') return [];
  const found: Condition[] = [];
  for (const part of bare.split(',')) {
    const match = /^\s*(===|~=|==|!=|<=|>=|<|>)\s*([^\s=<>!~;]*)\s*$/.exec(part);
    if (!match) return undefined;
    found.push({ operator: match[1] ?? '', version: match[2] ?? '' });
  }
  return found;
}

function named(text: string): Requirement | undefined {
  const match = /^\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[[^\]]*\])?\s*(@\s*\S.*|.*)$/s.exec(text);
  if (!match) return undefined;
  const rest = match[2] ?? '';
  const conditions = rest.startsWith('@') ? [] : conditionsOf(rest);
  return conditions && { name: (match[1] ?? '').replace(/[^A-Za-z0-9.]+/g, '-'), conditions };
}

function fromAddress(url: string): Requirement | undefined {
  const egg = /#(?:.*&)?egg=([^&]*)/.exec(url)?.[1];
  if (egg !== undefined) return named(egg);
  const wheel = /([^/]+?)-([^-/]+)(?:-\d[^-/]*)?-[^-/]+-[^-/]+-[^-/]+\.whl(?:[?#].*)?$/.exec(url);
  return wheel
    ? {
        name: (wheel[1] ?? '').replaceAll('_', '-'),
        conditions: [{ operator: '==', version: wheel[2] ?? '' }],
      }
    : opaque;
}

function fromPath(text: string): Requirement | undefined {
  const looksLikePath = text.includes('/') || text.startsWith('.');
  if (isDirectory(text) && looksLikePath)
    return isFile(`${text}/setup.py`) || isFile(`${text}/pyproject.toml`)
      ? opaque
      : { problem: `Directory '${text}' is not installable. Neither 'setup.py' nor 'pyproject.toml' found.` };
  return archive.test(text) ? (fromAddress(`/${text}`) ?? opaque) : undefined;
}

/** Reads a requirement as pip does. */
export function parseRequirement(text: string): Requirement {
  const hint =
    text.includes('/') && !scheme.test(text) ? `\nHint: It looks like a path. File '${text}' does not exist.` : '';
  const bare = scheme.test(text) ? text : (text.split(';', 1)[0] ?? '').trim();
  const found = scheme.test(bare)
    ? fromAddress(bare)
    : ((bare.includes('@') ? undefined : fromPath(bare)) ?? named(bare));
  if (found) return found;
  if (text.includes('=') && !text.includes('=='))
    return {
      problem: `Invalid version specification in package ${text}. '=' is not supported, use '==' instead.`,
    };
  return { problem: `pip raised an exception while parsing '${text}': Invalid requirement: '${text}'${hint}` };
}
