// Text that is classified as plain must not be changed by Jinja.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newDict } from '../../base/codec/value.ts';
import { renderSaltTemplate } from './jinja/index.ts';
import { hasNoJinja } from './plain-text.ts';

const piece = fc.constantFrom(
  'a',
  '{',
  '}',
  '%',
  '#',
  '{{',
  '{%',
  '{#',
  ' ',
  '\n',
  '\r',
  '\t',
  '-',
  '##',
  'é',
  '\u2028',
);

describe('hasNoJinja', () => {
  it('is true only for texts that Jinja does not change', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
        const source = pieces.join('');
        if (hasNoJinja(source, {})) expect(await renderSaltTemplate(source, { context: { opts: {} } })).toBe(source);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['x: 1\n', {}, true],
    ['', {}, true],
    ['x: {a: 1}\n', { jinja_env: newDict() }, true],
    ['x: {{ 1 }}\n', {}, false],
    ['{# no #}\n', {}, false],
    ['a\r\nb\n', {}, false],
    ['% if 1\n', { jinja_env: newDict([['line_statement_prefix', '%']]) }, false],
    ['<< x >>\n', { jinja_sls_env: newDict([['variable_start_string', '<<']]) }, false],
  ])('%j under %j: %s', (source, opts, plain) => {
    expect(hasNoJinja(source, opts)).toBe(plain);
  });
});
