// Another build of Halite: of an earlier commit, or of this tree with a change, in a folder of its own.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Implementation } from './deployment.ts';

const root = resolve(import.meta.dirname, '../..');

export interface OtherBuild extends Implementation {
  remove(): void;
}

export interface OtherBuildPlan {
  /** A commit; absent: the files of this tree as they are. */
  readonly commit?: string;
  /** A file below the root, a text in it, and what takes its place. */
  readonly change?: readonly [file: string, text: string, instead: string];
}

/** Whether the history that was cloned has a commit. */
export const hasCommit = (commit: string): boolean =>
  spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: root }).status === 0;

export function makeBuild(name: string, { commit, change }: OtherBuildPlan): OtherBuild {
  const folder = mkdtempSync(join(tmpdir(), 'halite-build-'));
  const run = (script: string, cwd = root): void => {
    const done = spawnSync('sh', ['-ec', script, 'sh', folder, commit ?? ''], { cwd, encoding: 'utf8' });
    if (done.status !== 0) throw new Error(`another build of Halite failed: ${script}\n${done.stderr}`);
  };
  try {
    if (commit !== undefined) run('git archive "$2" | tar -x -C "$1"');
    else run('git ls-files -z -co --exclude-standard | xargs -0 tar -c --ignore-failed-read | tar -x -C "$1"');
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    if (change) {
      const [file, text, instead] = change;
      const before = readFileSync(join(folder, file), 'utf8');
      if (!before.includes(text)) throw new Error(`${file} does not contain: ${text}`);
      writeFileSync(join(folder, file), before.replace(text, instead));
    }
    run('node scripts/build.mjs', folder);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  return {
    ...{ name: `halite ${name}`, bin: join(folder, 'bin') },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
