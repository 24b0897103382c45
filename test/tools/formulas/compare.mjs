// Compares two answers to one call: equal, in another key order, different, or both an error.

/** A file position or source excerpt is told differently: the class of an error is what comes before. */
export function errorClass(text) {
  return (
    text
      .replace(/^\w+(Error|Exception): /, '')
      .replace(/^Error running '[^']*': /, '')
      .split('\n')[0]
      // The class behind pillar, grains and opts has another name in each release.
      .replace(/salt\.utils\.(context\.NamespacedDictWrapper|optsdict\.\w+) object/g, 'dict object')
      .replace(/; line \d+.*$/, '')
      .trim()
  );
}

function errorsOf(answer) {
  if (answer.error !== undefined) return [answer.error];
  const { local } = JSON.parse(answer.value);
  return Array.isArray(local) && local.length > 0 && local.every((item) => typeof item === 'string')
    ? local
    : undefined;
}

/** Places where two values differ, as readable lines. */
export function differences(real, ours, path = '', found = []) {
  if (found.length >= 8 || Object.is(real, ours)) return found;
  const both = [real, ours];
  if (both.every(Array.isArray)) {
    for (let index = 0; index < Math.max(real.length, ours.length); index++) {
      differences(real[index], ours[index], `${path}[${index}]`, found);
    }
  } else if (both.every((value) => value !== null && typeof value === 'object' && !Array.isArray(value))) {
    for (const key of new Set([...Object.keys(real), ...Object.keys(ours)])) {
      differences(real[key], ours[key], `${path}:${key}`, found);
    }
  } else found.push(`${path}: real ${shown(real)} ours ${shown(ours)}`);
  return found;
}

function shown(value) {
  return value === undefined ? '(none)' : JSON.stringify(value).slice(0, 300);
}

/** Verdict on one call, with the differences as lines. */
export function compare(real, ours) {
  const [realErrors, ourErrors] = [errorsOf(real), errorsOf(ours)];
  if (realErrors || ourErrors) {
    if (!realErrors || !ourErrors) {
      const side = realErrors ? 'real' : 'ours';
      return {
        verdict: 'different',
        lines: [`only ${side} fails: ${(realErrors ?? ourErrors).join('\n').slice(0, 1500)}`],
      };
    }
    const [a, b] = [realErrors.map(errorClass), ourErrors.map(errorClass)];
    if (JSON.stringify(a) === JSON.stringify(b)) return { verdict: 'both error', lines: a };
    return { verdict: 'other error', lines: [`real ${a.join(' | ')}`, `ours ${b.join(' | ')}`] };
  }
  if (real.value === ours.value) return { verdict: 'equal', lines: [] };
  const lines = differences(JSON.parse(real.value).local, JSON.parse(ours.value).local);
  if (lines.length > 0) return { verdict: 'different', lines };
  const [a, b] = [real, ours].map(({ value }) => value.replaceAll(/,$/gm, '').split('\n'));
  // Salt merges dictionaries through Python sets: the order of what was added changes from run to run.
  if (a.toSorted().join('\n') === b.toSorted().join('\n')) return { verdict: 'equal', lines: [] };
  const at = a.findIndex((line, index) => line !== b[index]);
  return { verdict: 'form', lines: [`line ${at}: real ${a[at]} ours ${b[at]}`] };
}
