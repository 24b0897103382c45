// Compares the content of an archive with the existing files.

import type { PlainDict, Value } from 'halite/sdk';
import { joinPath, rmSync } from 'halite/sdk/fs';
import { lookAtLink } from '../../shared/file/facts.ts';
import { failureText } from '../file/errors.ts';

export interface Contents {
  readonly dirs: string[];
  readonly files: string[];
  readonly links: string[];
  readonly top_level_dirs: string[];
  readonly top_level_files: string[];
  readonly top_level_links: string[];
}

export interface Compared {
  readonly missing: boolean;
  /** Existing paths of another kind. */
  readonly wrong: string[];
}

export function compare(name: string, contents: Contents): Compared {
  const wrong: string[] = [];
  let missing = false;
  const look = (
    paths: readonly string[],
    fits: (stats: NonNullable<ReturnType<typeof lookAtLink>>) => boolean,
  ): void => {
    for (const path of paths) {
      const stats = lookAtLink(joinPath(name, path).replace(/\/+$/, ''));
      if (!stats) missing = true;
      else if (!fits(stats)) wrong.push(path);
    }
  };
  look(contents.dirs, (stats) => stats.isDirectory());
  look(contents.files, (stats) => !stats.isDirectory() && !stats.isSymbolicLink());
  look(contents.links, (stats) => stats.isSymbolicLink());
  return { missing, wrong };
}

/** Removes paths; returns those that could not be removed. */
export function removePaths(paths: readonly string[], changes: PlainDict): string[] {
  const errors: string[] = [];
  for (const path of paths) {
    try {
      rmSync(path.replace(/\/+$/, ''), { recursive: true });
      changes['removed'] = [...((changes['removed'] as Value[] | undefined) ?? []), path];
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') errors.push(failureText(error));
    }
  }
  return errors;
}

/** A sentence with items below it. */
export const listed = (text: string, items: readonly string[]): string =>
  `${text}\n${items.map((item) => `\n- ${item}`).join('')}`;
