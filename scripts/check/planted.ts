// Shows that the check can fail: adds one violation of each rule to a copy of the repository, and a wrong type and a
// wrong format too.
import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type Rule, rules } from './rules.ts';

/** What `npm run check` runs in addition to the rules. */
const programs: readonly Pick<Rule, 'name' | 'planted'>[] = [
  { name: 'types', planted: { 'src/base/util/planted-type.ts': "export const planted: number = 'text';\n" } },
  {
    name: 'types',
    planted: {
      'src/ext/modules/planted-call.ts':
        "import type { ModuleContext } from 'halite/sdk';\n\nexport const planted = (ctx: ModuleContext) => ctx.call('file.no_such_function');\n",
    },
  },
  { name: 'lint and format', planted: { 'src/base/util/planted-lint.ts': 'var planted = 1\n' } },
];

export function plant(root: string, planted: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(planted)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    appendFileSync(join(root, path), text);
  }
}

/** One line for each violation that the check of the copy did not report; the copy is removed. */
export function findUnreported(root: string): string[] {
  const copy = mkdtempSync(join(tmpdir(), 'halite-planted-'));
  try {
    for (const name of readdirSync(root)) {
      if (name === '.git' || name.startsWith('dist') || name.startsWith('.dist-') || name === '.halite') continue;
      if (name === 'node_modules') symlinkSync(join(root, name), join(copy, name));
      else
        cpSync(join(root, name), join(copy, name), {
          recursive: true,
          filter: (path) => basename(path) !== 'fixtures',
        });
    }
    const all = [...programs, ...rules];
    for (const { planted } of all) plant(copy, planted);
    const { status, stdout } = spawnSync(process.execPath, ['scripts/check.mjs'], {
      cwd: copy,
      encoding: 'utf8',
      maxBuffer: 1 << 26,
    });
    const missed = all.flatMap(({ name, planted }) => {
      const file = Object.keys(planted)[0]!;
      const section = stdout.split('FAILED: ').find((part) => part.startsWith(name)) ?? '';
      return section.includes(file) ? [] : [`${name}: does not report ${file}`];
    });
    return status === 0 ? ['the check of the planted tree succeeds', ...missed] : missed;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
