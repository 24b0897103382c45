// Diagrams in the language of mermaid, drawn here: what our pages use of it. Any other is shown as its text.
import { drawFlow } from '../diagram/flow-draw.ts';
import { readFlow } from '../diagram/flow-read.ts';
import { drawSequence, readSequence } from '../diagram/sequence.ts';
import { escapeHtml } from './inline.ts';

export function diagramHtml(text: string): string {
  const drawn = draw(text);
  if (drawn === undefined) return `<div class="code"><pre tabindex="0"><code>${escapeHtml(text)}</code></pre></div>`;
  return `<div class="diagram" tabindex="0" role="img" aria-label="${escapeHtml(spoken(text))}">${drawn}</div>`;
}

function draw(text: string): string | undefined {
  const flow = readFlow(text);
  if (flow) return drawFlow(flow);
  const sequence = readSequence(text);
  return sequence && drawSequence(sequence);
}

/** For those who do not see it: its lines without the marks of the language. */
const spoken = (text: string): string =>
  text
    .split('\n')
    .slice(1)
    .map((line) =>
      line
        .replace(/[[\]("')]+/g, ' ')
        .replace(/-+>+|---/g, 'to')
        .trim(),
    )
    .filter((line) => line !== '' && line !== 'end')
    .join('; ')
    .replace(/\s+/g, ' ');
