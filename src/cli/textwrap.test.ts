// Paragraph filling against Python's textwrap (test/fixtures/cli/textwrap.json).
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { wrapText } from '../base/util/textwrap.ts';

it('wraps as Python does', () => {
  const samples = JSON.parse(readFileSync(new URL('../../test/fixtures/cli/textwrap.json', import.meta.url), 'utf8'));
  expect(samples.length).toBeGreaterThan(200);
  for (const [text, width, indent, lines] of samples) {
    expect(wrapText(text, width, indent), JSON.stringify([text, width, indent])).toEqual(lines);
  }
});
