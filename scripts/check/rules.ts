// All rules that types and lint cannot express. A rule is a function from the root to one line for each violation.
import { findStalePages } from '../docs/pages.ts';
import { findForbiddenImports } from './architecture.ts';
import { findConflictMarkers } from './conflict-markers.ts';
import { findBrokenLinks } from './doc-links.ts';
import { findExtensionImports } from './extension-imports.ts';
import { findFileCycles } from './file-cycles.ts';
import { findLargeFiles } from './file-size.ts';
import { findJobFieldBreaches } from './job-fields.ts';
import { findBrokenPaths } from './path-pages.ts';
import { findOddWords } from './plain-words.ts';
import { findUnusedExports } from './unused-exports.ts';

export interface Rule {
  readonly name: string;
  readonly find: (root: string) => string[];
  /**
   * One violation: text that is added to the end of files (new ones begin empty). The rule must then name the first of
   * them.
   */
  readonly planted: Readonly<Record<string, string>>;
}

export const rules: readonly Rule[] = [
  {
    name: 'imports follow architecture.json',
    find: findForbiddenImports,
    planted: { 'src/base/util/planted-import.ts': "import '../../master/main.ts';\n" },
  },
  {
    name: 'the console imports nothing of the daemons',
    find: findForbiddenImports,
    planted: { 'console/planted-import.ts': "import '../src/base/util/jid.ts';\n" },
  },
  {
    name: 'what a message holds is read by the message readers, never cast',
    find: (root) => findJobFieldBreaches(root).filter((line) => line.includes(': a cast ')),
    planted: { 'src/master/planted-cast.ts': "const id = dictGet(load, 'id') as string;\n" },
  },
  {
    name: 'fields of a job are read through Job',
    find: (root) => findJobFieldBreaches(root).filter((line) => line.includes(': a field of a job ')),
    planted: { 'src/master/planted-field.ts': "const jid = dictGet(job, 'jid');\n" },
  },
  {
    name: 'no unused export',
    find: findUnusedExports,
    planted: { 'src/base/util/planted-export.ts': 'export const planted = 1;\n' },
  },
  {
    name: 'what tests share follows architecture.json too',
    find: findForbiddenImports,
    planted: { 'src/base/util/testing/planted-import.ts': "import '../../../master/main.ts';\n" },
  },
  {
    name: 'extensions import the SDK, not what is behind it',
    find: findExtensionImports,
    planted: { 'src/ext/modules/planted-base.ts': "import '../../base/util/jid.ts';\n" },
  },
  {
    name: 'extensions change files and start programs through the SDK',
    find: findExtensionImports,
    planted: {
      'src/ext/modules/planted-files.ts':
        "import { writeFileSync } from 'node:fs';\n\nexport const planted = writeFileSync;\n",
    },
  },
  {
    name: 'kinds of extensions share code in src/ext/shared only',
    find: findExtensionImports,
    planted: {
      'src/ext/modules/planted-kind.ts': "import '../states/planted-kind.ts';\n",
      'src/ext/states/planted-kind.ts': 'export const planted = 1;\n',
    },
  },
  {
    name: 'no files import each other in a circle',
    find: findFileCycles,
    planted: {
      'src/base/util/planted-circle.ts':
        "import type { Other } from './planted-circle-other.ts';\n\nexport interface One {\n  other: Other;\n}\n",
      'src/base/util/planted-circle-other.ts':
        "import type { One } from './planted-circle.ts';\n\nexport interface Other {\n  one: One;\n}\n",
    },
  },
  {
    name: 'no file has more than 400 lines',
    find: findLargeFiles,
    planted: { 'src/base/util/planted-size.ts': '// A line.\n'.repeat(401) },
  },
  {
    name: 'links and paths in pages lead somewhere',
    find: findBrokenLinks,
    planted: { 'docs/planted-link.md': 'See [the page](no-such-page.md).\n' },
  },
  {
    name: 'the pages of the job path and the state path follow the imports',
    find: findBrokenPaths,
    planted: { 'docs/state-path.md': '| 1 | `src/no-such-file.ts` | start | a step that is not there |\n' },
  },
  {
    name: 'generated pages are up to date',
    find: findStalePages,
    planted: { 'docs/reference/errors.md': 'A line that no table knows.\n' },
  },
  {
    name: 'names and comments use plain words',
    find: findOddWords,
    planted: { 'src/base/util/planted-word.ts': '// Nobody passes the door.\n' },
  },
  {
    name: 'no merge left its markers behind',
    find: findConflictMarkers,
    planted: { 'src/base/util/planted-conflict.ts': '/**\n * <<<<<<< HEAD\n * A sentence.\n */\n' },
  },
];

export interface RuleResult {
  readonly name: string;
  readonly breaches: readonly string[];
}

export function runRules(root: string): RuleResult[] {
  return rules.map(({ name, find }) => ({ name, breaches: find(root) }));
}
