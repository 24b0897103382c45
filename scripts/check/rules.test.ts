// Each rule reports the violation planted for it, and nothing for a tree without it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { generatedPages } from '../docs/pages.ts';
import { plant } from './planted.ts';
import { rules } from './rules.ts';

const folders: string[] = [];

/** A small version of the files that the rules read. */
const files: Readonly<Record<string, string>> = {
  'src/base/util/jid.ts': "export const jid = '2026';\n",
  'src/master/main.ts': "import { jid } from '../base/util/jid.ts';\n\nconsole.log(jid);\n",
  'scripts/architecture.json': JSON.stringify({
    modules: { base: [], master: ['base'], ext: [] },
    extensions: { node: ['node:path'] },
    libraries: {},
  }),
  'src/ext/modules/test/index.ts':
    "import { join } from 'node:path';\nimport { fn } from 'halite/sdk';\n\nconsole.log(join, fn);\n",
  'scripts/check/plain-words.json': JSON.stringify({ words: { door: 'authorization' }, allowed: {} }),
  'package.json': '{}',
  'README.md': '# Halite\nSee [below](#halite) and `src/master/main.ts`.\n',
  'docs/guide/extensions.md': '# Extensions\n',
  'docs/guide/testing.md': '# Testing\n',
};

function write(content: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'halite-rules-'));
  folders.push(root);
  plant(root, content);
  return root;
}

/** A folder of its own for each test: what was read of a tree is remembered. */
const smallTree = (): string => write({ ...files, ...generatedPages(write(files)) });

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

describe.each(rules)('$name', ({ find, planted }) => {
  it('reports nothing for a correct tree', () => {
    expect(find(smallTree())).toEqual([]);
  });

  it('reports the planted violation', () => {
    const root = smallTree();
    plant(root, planted);
    expect(find(root).join('\n')).toContain(Object.keys(planted)[0]);
  });
});
