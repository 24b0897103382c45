// Finds programs as Salt does: PATH first, then the usual system folders in case PATH is wrong.
import { accessSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';

const usualFolders = ['/sbin', '/bin', '/usr/sbin', '/usr/bin', '/usr/local/sbin', '/usr/local/bin'];

function isExecutable(path: string): boolean {
  try {
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return false;
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The folders searched for programs, in order. */
function searchPath(pathVariable: string = process.env['PATH'] ?? ''): string[] {
  // An empty part would mean the working folder.
  const folders = pathVariable.split(':').filter(Boolean);
  return [...folders, ...usualFolders.filter((folder) => !folders.includes(folder))];
}

/**
 * Full path of a program, or null. A bare name is never searched in the working folder (Salt does that),
 * so that the folder in which a daemon was started does not determine what it runs.
 */
export function which(program: string, pathVariable?: string): string | null {
  if (program === '') return null;
  if (program.includes('/') && isExecutable(program)) return program;
  if (program.startsWith('/')) return null;
  for (const folder of searchPath(pathVariable)) {
    const candidate = join(folder, program);
    if (isExecutable(candidate)) return candidate;
  }
  return null;
}

/** The first program of a list that exists, as full path, or null. */
export function whichFirst(programs: readonly string[]): string | null {
  for (const program of programs) {
    const found = which(program);
    if (found) return found;
  }
  return null;
}
