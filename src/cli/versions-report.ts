// `--versions-report`: versions of Halite, its libraries and the system, in the layout of Salt's bug reports.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, machine, release, type } from 'node:os';
import { haliteVersion, saltCompatVersion } from '../base/util/version.ts';

type Section = readonly [title: string, rows: readonly (readonly [name: string, version: string])[]];

function libraryVersion(name: string): string {
  try {
    const require = createRequire(import.meta.url);
    return String((require(`${name}/package.json`) as { version?: string }).version);
  } catch {
    return 'Not Installed';
  }
}

function distribution(): { dist: string; name: string } {
  try {
    const fields = new Map(
      readFileSync('/etc/os-release', 'utf8')
        .split('\n')
        .map((line) => /^(\w+)="?(.*?)"?$/.exec(line))
        .filter((match) => match !== null)
        .map((match) => [match[1]!, match[2]!]),
    );
    const version = fields.get('VERSION_ID') ?? '';
    const codename = fields.get('VERSION_CODENAME') ?? '';
    const name = (fields.get('PRETTY_NAME') ?? '').replace(/ \(.*\)$/, '');
    return { dist: [fields.get('ID') ?? '', version, codename].join(' ').trim(), name };
  } catch {
    return { dist: '', name: '' };
  }
}

export async function versionsReport(): Promise<string> {
  const { dist, name } = distribution();
  const sections: Section[] = [
    [
      'Salt Version',
      [
        ['Salt', saltCompatVersion],
        ['Halite', haliteVersion],
      ],
    ],
    ['Node Version', [['Node', process.version.slice(1)]]],
    [
      'Dependency Versions',
      [
        ['better-sqlite3', libraryVersion('better-sqlite3')],
        ['openssl', process.versions.openssl ?? 'Not Installed'],
        ['v8', process.versions.v8],
        ['zeromq', libraryVersion('zeromq')],
      ],
    ],
    [
      'System Versions',
      [
        ['dist', dist],
        ['locale', 'utf-8'],
        ['machine', machine?.() ?? arch()],
        ['release', release()],
        ['system', type()],
        ['version', name],
      ],
    ],
  ];
  const width = Math.max(...sections.flatMap(([, rows]) => rows.map(([label]) => label.length)));
  return sections
    .map(([title, rows]) => `${title}:\n${rows.map(([label, v]) => `  ${label.padStart(width)}: ${v}\n`).join('')} \n`)
    .join('');
}
