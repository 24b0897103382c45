// Pages about modules, states and runners, as Markdown: made when the site is built, so that the repository need not
// keep thousands of lines that the code says already.
import { dumpYaml } from '../../../src/base/codec/yaml/index.ts';
import type { Param } from '../../../src/extend/sdk/params.ts';
import type { Source } from '../sources.ts';
import { callExamples } from './call-examples.ts';
import { definitions, type FunctionDefinition, type ModuleDefinition, type ReferenceKind } from './definitions.ts';
import { stateExamples } from './state-examples.ts';

interface KindWords {
  readonly title: string;
  readonly about: string;
  readonly of: string;
}

const kinds: Readonly<Record<ReferenceKind, KindWords>> = {
  modules: {
    title: 'Execution modules',
    of: 'execution module',
    about:
      "What `salt '*' module.function` runs on minions. The answers shown are those of calls that were recorded with Salt 3006.27; the tests make the same calls here and compare.",
  },
  states: {
    title: 'State modules',
    of: 'state module',
    about:
      'What state files use. Every example with its answer is a case that the tests run: with `test=True`, applied, and applied once more.',
  },
  runners: { title: 'Runners', of: 'runner', about: 'What `salt-run module.function` runs on the master.' },
};

/** Texts of definitions are plain, apart from code between backticks. */
export const escapeText = (text: string): string =>
  text
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(/[\\*_[\]<|]/g, '\\$&')))
    .join('');
const cell = (text: string): string =>
  escapeText(text)
    .replace(/(?<!\\)\|/g, '\\|')
    .replace(/\s*\n\s*/g, ' ');

export async function modulePages(root: string): Promise<Source[]> {
  const calls = callExamples(root);
  const pages: Source[] = [];
  for (const kind of ['states', 'modules', 'runners'] as const) {
    const found = await definitions(kind);
    pages.push({ path: `docs/reference/${kind}.md`, markdown: listPage(kind, found), made: true });
    for (const module of found) {
      const markdown = modulePage(root, module, calls);
      pages.push({ path: pathOf(module), markdown, made: true, under: `docs/reference/${kind}.md` });
    }
  }
  return pages;
}

const pathOf = ({ kind, file }: ModuleDefinition): string => `docs/reference/${kind}/${file}.md`;
const titleOf = ({ name, file }: ModuleDefinition): string => (name === file ? name : `${name} (${file})`);

function listPage(kind: ReferenceKind, found: readonly ModuleDefinition[]): string {
  const { title, about } = kinds[kind];
  const count = found.reduce((sum, { functions }) => sum + functions.length, 0);
  const rows = found.map((module) => {
    const [first = ''] = module.doc.split('\n');
    return `| [${titleOf(module)}](${kind}/${module.file}.md) | ${module.functions.length} | ${cell(first)} |`;
  });
  const lines = [
    `# ${title}`,
    about,
    '',
    `${found.length} modules with ${count} functions.`,
    '',
    '| Module | Functions | |',
    '| --- | ---: | --- |',
    ...rows,
  ];
  return `${lines.join('\n')}\n`;
}

type Calls = ReturnType<typeof callExamples>;

function modulePage(root: string, module: ModuleDefinition, calls: Calls): string {
  const states = module.kind === 'states' ? stateExamples(root, module.file) : new Map();
  const { of } = kinds[module.kind];
  const source = `src/ext/${module.kind}/${module.file}`;
  const lines = [
    `# ${titleOf(module)}: ${of}`,
    escapeText(module.doc),
    '',
    ...module.functions.flatMap((fun) => [
      ...functionLines(fun, module.kind),
      ...(states.get(fun.name) ?? []).flatMap(
        ({ about, sls, comment }: { about: string; sls: string; comment: string }) => [
          '',
          `It ${escapeText(about)}:`,
          ...fenced('yaml', sls),
          'Applied, it answers:',
          ...fenced('text', comment),
        ],
      ),
      ...(module.kind === 'modules' ? (calls.get(fun.name) ?? []) : []).flatMap(({ command, output }) =>
        fenced('console', `$ ${command}\n${output}`),
      ),
      '',
    ]),
    `Made from \`${source}\`.`,
  ];
  return `${lines.join('\n')}\n`;
}

/** More backticks than the text has. */
function fenced(language: string, text: string): string[] {
  const ticks = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  return ['', `${ticks}${language}`, text, ticks, ''];
}

function functionLines({ name, doc, examples, params }: FunctionDefinition, kind: ReferenceKind): string[] {
  const rows = Object.entries(params).map(
    ([key, param]) => `| \`${starred(key, param)}\` | ${typeOf(param)} | ${defaultOf(param)} | ${cell(param.doc)} |`,
  );
  return [
    `## ${escapeText(name)}`,
    escapeText(doc),
    '',
    ...(rows.length > 0 ? ['| Parameter | Type | Default | Meaning |', '| --- | --- | --- | --- |', ...rows] : []),
    ...(examples.length > 0 ? fenced(kind === 'states' ? 'yaml' : 'sh', examples.join('\n')) : []),
  ];
}

const starred = (key: string, { kind }: Param): string =>
  kind === 'rest' ? `*${key}` : kind === 'kwargs' ? `**${key}` : key;

const names: Readonly<Partial<Record<Param['kind'], string>>> = {
  rest: 'any number of values',
  kwargs: 'any names',
  scalar: 'one value',
  strings: 'list of texts',
  string: 'text',
  truthy: 'bool',
  isTrue: 'bool',
  ignored: 'not used',
};

const typeOf = ({ kind, forms }: Param): string =>
  kind === 'oneOf' ? (forms ?? []).join(' or ') : (names[kind] ?? kind);

function defaultOf({ kind, required, default: value, computed }: Param): string {
  if (kind === 'rest' || kind === 'kwargs' || computed) return '';
  if (required) return '*required*';
  if (value === null) return '`None`';
  if (value === '') return "`''`";
  const text =
    typeof value === 'boolean'
      ? value
        ? 'True'
        : 'False'
      : dumpYaml(value, { flow: true })
          .trim()
          .replace(/\n\.\.\.$/, '');
  return `\`${text.replaceAll('|', '\\|').replaceAll('`', "'")}\``;
}
