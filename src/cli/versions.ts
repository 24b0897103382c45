// What `--version` and `--versions-report` print.
import { readFileSync } from 'node:fs';
import { arch, release } from 'node:os';
import { HALITE_VERSION, SALT_COMPAT_VERSION } from '../base/util/version.ts';

export function versionLine(prog: string): string {
  return `${prog} ${SALT_COMPAT_VERSION} (Halite ${HALITE_VERSION})`;
}

/** The same three blocks as Salt's report: this program, its parts, the system. */
export async function versionsReport(): Promise<string> {
  const zeromq = await import('zeromq').then((module) => module.version).catch(() => 'Not Installed');
  const blocks: Record<string, Record<string, string>> = {
    'Salt Version': { Salt: SALT_COMPAT_VERSION, Halite: HALITE_VERSION },
    'Dependency Versions': {
      node: process.versions.node,
      v8: process.versions.v8,
      openssl: process.versions.openssl,
      ZMQ: zeromq,
    },
    'System Versions': { dist: distribution(), machine: arch(), release: release(), system: process.platform },
  };
  const lines = Object.entries(blocks).map(([title, rows]) => {
    const width = Math.max(...Object.keys(rows).map((name) => name.length));
    const shown = Object.entries(rows).map(([name, value]) => `${name.padStart(width + 10)}: ${value}`);
    return `${title}:\n${shown.join('\n')}\n`;
  });
  return lines.join('\n');
}

function distribution(): string {
  try {
    const fields = new Map(
      readFileSync('/etc/os-release', 'utf8')
        .split('\n')
        .map((line) => line.split('=') as [string, string]),
    );
    const read = (name: string): string => (fields.get(name) ?? '').replace(/^"|"$/g, '');
    return [read('ID'), read('VERSION_ID'), read('VERSION_CODENAME')].filter(Boolean).join(' ');
  } catch {
    return process.platform;
  }
}
