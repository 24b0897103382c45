// The versions of everything Halite consists of, as `test.versions` shows them.
import os from 'node:os';
import { type Dict, dictGet, isDict, newDict, type PlainDict } from 'halite/sdk';
import { installation, saltVersion } from '../../shared/software/version.ts';

const libraries = ['ada', 'ares', 'brotli', 'llhttp', 'modules', 'nghttp2', 'openssl', 'uv', 'v8', 'zlib'];

/** Sections of name → version, in Salt's layout. */
export function versionsInformation(grains: Dict): PlainDict {
  const grain = (name: string): string => String(dictGet(grains, name) ?? '');
  const dependencies = newDict(
    libraries.flatMap((name) => (process.versions[name] ? [[name, process.versions[name]]] : [])),
  );
  return newDict([
    ['Salt Version', newDict([['Salt', saltVersion]])],
    ['Halite Version', newDict([['Halite', installation().version]])],
    ['Node Version', newDict([['Node', process.versions.node]])],
    ['Dependency Versions', dependencies],
    [
      'System Versions',
      newDict([
        ['system', os.type()],
        ['dist', [grain('os').toLowerCase(), grain('osrelease'), grain('oscodename')].join(' ').trim()],
        ['release', os.release()],
        ['machine', os.machine()],
        ['version', [grain('osfullname'), grain('osrelease'), grain('oscodename')].join(' ').trim()],
        ['locale', 'utf-8'],
      ]),
    ],
  ]);
}

/** The same as lines of text, names right-aligned. */
export function versionsReport(grains: Dict): string {
  const sections = Object.entries(versionsInformation(grains));
  const names = sections.flatMap(([, section]) => (isDict(section) ? Object.keys(section) : []));
  const width = Math.max('Not Installed'.length, ...names.map((name) => name.length)) + 1;
  const out: string[] = [];
  for (const [title, section] of sections) {
    out.push(`${title}:`);
    const entries = Object.entries(section as PlainDict).sort(([a], [b]) =>
      a.toLowerCase() < b.toLowerCase() ? -1 : 1,
    );
    for (const [name, version] of entries) out.push(`${name.padStart(width)}: ${version || 'Not Installed'}`);
    out.push(' ');
  }
  return out.join('\n');
}
