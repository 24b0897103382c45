// Compares two runs of the same states: verdicts, changes, comments.
import { differences } from './compare.mjs';

/** What depends on the moment and not on the implementation. */
function steady(text) {
  return (
    text
      // A stack names files of the implementation; what was thrown comes last.
      .replace(/Traceback \(most recent call last\):\n[\s\S]*\n(\S[^\n]*)\n*$/, '$1')
      .replace(/^(An exception occurred in this state: )(\w+\.)*(\w+): /, '$1$3: ')
      .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?/g, '<time>')
      .replaceAll(/"pid": ?\d+/g, '"pid":0')
      .replaceAll(/\/tmp\/[\w.-]+/g, '<temporary>')
  );
}

/** Salt names failed requisites in the order of a Python set. */
function sortedRequisites(text) {
  return text.replace(
    /^(One or more requisite failed: )(.*)$/,
    (_, start, names) => start + names.split(', ').toSorted().join(', '),
  );
}

const commentOf = (state) => sortedRequisites(steady(String(state.comment)));

/** Lines that tell where run `name` differs; `counts` adds up. */
export function compareRuns(real, ours, name, counts) {
  if (Array.isArray(real) || Array.isArray(ours)) {
    const same = Array.isArray(real) && Array.isArray(ours);
    counts[same ? 'refused' : 'verdicts']++;
    return same
      ? []
      : [`${name}: real ${JSON.stringify(real).slice(0, 600)} ours ${JSON.stringify(ours).slice(0, 600)}`];
  }
  const lines = [];
  for (const tag of new Set([...Object.keys(real), ...Object.keys(ours)])) {
    counts.states++;
    const [theirs, own] = [real[tag], ours[tag]];
    if (theirs?.result !== own?.result) {
      counts.verdicts++;
      const tell = (state) => (state ? `${state.result} (${String(state.comment).slice(0, 400)})` : 'absent');
      lines.push(`${name} ${tag}: verdict real ${tell(theirs)} ours ${tell(own)}`);
      continue;
    }
    const [a, b] = [theirs, own].map((state) => JSON.parse(steady(JSON.stringify(state.changes ?? null))));
    const changed = differences(a, b);
    if (changed.length > 0) {
      counts.changes++;
      lines.push(`${name} ${tag}: changes`, ...changed.map((line) => `    ${line}`));
    }
    if (commentOf(theirs) !== commentOf(own)) {
      counts.comments++;
      lines.push(
        `${name} ${tag}: comment real ${JSON.stringify(theirs.comment).slice(0, 500)}`,
        `    ours ${JSON.stringify(own.comment).slice(0, 500)}`,
      );
    }
  }
  return lines;
}

/** States that changed something in a run. */
export function changedIn(run) {
  return Array.isArray(run) ? [] : Object.keys(run).filter((tag) => Object.keys(run[tag].changes ?? {}).length > 0);
}
