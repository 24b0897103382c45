// Compares what Halite and Salt make of extension files, and writes the page about it.

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
/** Salt shows a docstring as Python cleaned it or not, depending on the release of Python. */
const text = (doc) => doc.replaceAll(/\s+/g, ' ').trim();
const kindOf = { VAR_POSITIONAL: 'rest', VAR_KEYWORD: 'kwargs' };
const paramsOf = ({ params }) =>
  params.map(([name, kind]) => [name, kindOf[kind] ?? (kind === 'rest' || kind === 'kwargs' ? kind : 'any')]);

export function compareFile(name, halite, salt) {
  const row = {
    ...name,
    copy: salt.copy,
    halite: halite.state,
    salt: salt.state,
    reason: halite.reason ?? '',
    saltReason: salt.reason ?? '',
  };
  const differences = [];
  let functions = 0;
  let equal = 0;
  if (halite.state === 'loads' && salt.state === 'loads') {
    for (const key of new Set([...Object.keys(halite.functions), ...Object.keys(salt.functions)])) {
      functions++;
      const [ours, theirs] = [halite.functions[key], salt.functions[key]];
      const problem = !ours
        ? 'missing in Halite'
        : !theirs
          ? 'missing in Salt'
          : !same(paramsOf(ours), paramsOf(theirs))
            ? 'other parameters'
            : text(ours.doc) !== text(theirs.doc)
              ? 'other documentation'
              : '';
      if (problem === '') equal++;
      else differences.push(`${key}: ${problem}`);
    }
  }
  return { ...row, functions, equal, differences };
}

const percent = (part, whole) => (whole === 0 ? '' : `${((100 * part) / whole).toFixed(1)} %`);
const count = (rows, test) => rows.filter(test).length;
/** Without the folders of the machine that counted. */
const placeless = (words) =>
  words.replaceAll(/[^\s('"]*\/(?=python\/salt\/|site-packages\/|lib\/python3|ext\/[a-z]+\/)/g, '');
const cell = (words) =>
  placeless(words).replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').replaceAll('<', '\\<').slice(0, 200);
const imported = (state) => state === 'loads' || state === 'refuses';

function line(label, rows) {
  const ours = count(rows, ({ halite }) => imported(halite));
  const theirs = count(rows, ({ salt }) => imported(salt));
  const both = count(rows, ({ halite, salt }) => imported(halite) && imported(salt));
  const usable = count(rows, ({ halite }) => halite === 'loads');
  const usableThere = count(rows, ({ salt }) => salt === 'loads');
  const functions = rows.reduce((sum, row) => sum + row.functions, 0);
  const equal = rows.reduce((sum, row) => sum + row.equal, 0);
  return `| ${label} | ${rows.length} | ${ours} | ${theirs} | ${both} | ${percent(both, theirs)} | ${usable} | ${usableThere} | ${functions} | ${equal} |`;
}

const head = [
  '| | files | imported here | by Salt | by both | of those of Salt | usable here | with Salt | functions of both | equal |',
  '|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|',
];

export function coveragePage(rows, { release, python, commits }) {
  const own = rows.filter(({ copy }) => !copy);
  const kinds = [...new Set(own.map(({ kind }) => kind))].sort();
  const repositories = [...new Set(rows.map(({ repository }) => repository))].sort((a, b) =>
    a.toLowerCase() < b.toLowerCase() ? -1 : 1,
  );
  const lost = own.filter(({ halite, salt }) => !imported(halite) && imported(salt));
  const failing = own.filter(({ halite }) => !imported(halite));
  const other = rows.filter(({ halite, salt }) => imported(halite) && imported(salt) && halite !== salt);
  const differing = rows.flatMap(({ repository, file, differences }) =>
    differences.map((text) => [`${repository} ${file}`, text]),
  );
  const listOf = (list, reason) => list.map((row) => `| ${row.repository} | ${row.file} | ${cell(reason(row))} |`);
  return [
    '# Python extensions of public repositories',
    '',
    `Made by \`npm run python-coverage\` (see \`scripts/python-coverage.mjs\`): every extension file of ${repositories.length} public repositories, loaded by the`,
    `bridge and by the loader of Salt ${release}, each with the same Python ${python}, the same libraries and the same grains.`,
    'A file is *imported* when Python can execute it and its `__virtual__` answers; it is *usable* when that answer is not false. Functions are',
    'equal when name, parameters and documentation are. Files with the name of a module of Salt are mostly copies of it and counted by themselves.',
    '',
    ...head,
    line('own files', own),
    line(
      'copies of modules of Salt',
      rows.filter(({ copy }) => copy),
    ),
    ...kinds.map((kind) =>
      line(
        `\`_${kind}\``,
        own.filter((row) => row.kind === kind),
      ),
    ),
    '',
    `${count(repositories, (name) => !lost.some(({ repository }) => repository === name))} of ${repositories.length} repositories have no own file that Salt imports and Halite does not.`,
    '',
    '## Imported by Salt, and not here',
    '',
    ...(lost.length > 0
      ? ['| repository | file | reason |', '|---|---|---|', ...listOf(lost, ({ reason }) => reason)]
      : ['None.']),
    '',
    '## Not imported here',
    '',
    `${failing.length} own files, ${count(failing, ({ salt }) => !imported(salt))} of which Salt does not import either.`,
    '',
    '| repository | file | reason |',
    '|---|---|---|',
    ...listOf(failing, ({ reason }) => reason),
    '',
    '## Usable in only one of both',
    '',
    ...(other.length > 0
      ? [
          '| repository | file | usable in | reason of the other |',
          '|---|---|---|---|',
          ...other.map(
            (row) =>
              `| ${row.repository} | ${row.file} | ${row.halite === 'loads' ? 'Halite' : 'Salt'} | ${cell(row.halite === 'loads' ? row.saltReason : row.reason)} |`,
          ),
        ]
      : ['None.']),
    '',
    '## Functions that differ',
    '',
    ...(differing.length > 0
      ? ['| file | difference |', '|---|---|', ...differing.map(([file, text]) => `| ${file} | ${cell(text)} |`)]
      : ['None.']),
    '',
    '## Repositories',
    '',
    ...head.map((row) => row.replace('| |', '| repository, commit |')),
    ...repositories.map((name) =>
      line(
        `${name} ${commits.get(name.replace('/', '+')) ?? commits.get(name) ?? ''}`.trim(),
        rows.filter((row) => row.repository === name),
      ),
    ),
    '',
  ].join('\n');
}
