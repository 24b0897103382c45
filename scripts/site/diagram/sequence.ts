// Sequence diagrams: who sends what to whom, from above to below.
import { arrowHead, svg, textSvg } from './flow-draw.ts';
import { lineHeight, widthOf, wrap } from './text.ts';

interface Step {
  /** The same twice for a note. */
  readonly from: number;
  readonly to: number;
  readonly text: string;
  readonly note: boolean;
  readonly dashed: boolean;
}
interface Sequence {
  readonly names: readonly string[];
  readonly steps: readonly Step[];
}

/** Undefined when it is not a sequence diagram, or has a line that is not understood. */
export function readSequence(text: string): Sequence | undefined {
  const [first = '', ...lines] = text.trim().split('\n');
  if (first.trim() !== 'sequenceDiagram') return undefined;
  const ids: string[] = [];
  const names: string[] = [];
  const steps: Step[] = [];
  const indexOf = (id: string): number => {
    const known = ids.indexOf(id);
    if (known >= 0) return known;
    names.push(id);
    return ids.push(id) - 1;
  };
  for (const line of lines.map((each) => each.trim()).filter((each) => each !== '')) {
    const participant = /^(?:participant|actor)\s+(\w+)(?:\s+as\s+(.+))?$/.exec(line);
    const note = /^Note (?:over|right of|left of) (\w+)(?:,\s*(\w+))?:\s*(.+)$/i.exec(line);
    const message = /^(\w+)\s*(-{1,2})>>\s*(\w+):\s*(.+)$/.exec(line);
    if (participant) names[indexOf(participant[1]!)] = participant[2] ?? participant[1]!;
    else if (note) {
      const from = indexOf(note[1]!);
      steps.push({
        from,
        to: note[2] === undefined ? from : indexOf(note[2]),
        text: note[3]!,
        note: true,
        dashed: false,
      });
    } else if (message) {
      const [from, to] = [indexOf(message[1]!), indexOf(message[3]!)];
      steps.push({ from, to, text: message[4]!, note: false, dashed: message[2] === '--' });
    } else return undefined;
  }
  return { names, steps };
}

const top = 46;

export function drawSequence({ names, steps }: Sequence): string {
  const column = columnsOf(names, steps);
  const width = column.at(-1)! + Math.max(widthOf(names.at(-1) ?? ''), 150) / 2 + 24;
  const drawn: string[] = [];
  let y = top + 18;
  for (const step of steps) {
    const { text, height } = stepSvg(step, column, y, width);
    drawn.push(text);
    y += height;
  }
  const heads = names.map((name, index) => {
    const half = widthOf(name) / 2 + 14;
    const x = column[index]!;
    return `<path class="life" d="M${x} 36 V${y}"/><rect class="node" x="${x - half}" y="4" width="${2 * half}" height="32" rx="6"/>${textSvg([name], x, 20)}`;
  });
  return svg(width, y + 4, [...heads, ...drawn].join('\n'));
}

/** Far enough from each other for the texts between neighbours. */
function columnsOf(names: readonly string[], steps: readonly Step[]): number[] {
  const columns: number[] = [];
  for (const [index, name] of names.entries()) {
    const before = columns.at(-1);
    const texts = steps.filter(
      ({ from, to, note }) => !note && Math.min(from, to) === index - 1 && Math.max(from, to) === index,
    );
    const least = Math.max(150, ...texts.map(({ text }) => widthOf(text) * 0.92 + 28));
    const heads = (widthOf(names[index - 1] ?? '') + widthOf(name)) / 2 + 48;
    columns.push(
      before === undefined ? Math.max(80, widthOf(name) / 2 + 18) : before + Math.max(Math.min(least, 330), heads),
    );
  }
  return columns;
}

function stepSvg(step: Step, column: readonly number[], y: number, width: number): { text: string; height: number } {
  const [from, to] = [column[step.from]!, column[step.to]!];
  if (step.note) {
    const lines = wrap(step.text, 230);
    const half = Math.max(...lines.map(widthOf)) / 2 + 12;
    const height = lines.length * lineHeight + 12;
    const middle = Math.min((from + to) / 2, width - half - 2);
    const text = `<rect class="note" x="${middle - half}" y="${y - 6}" width="${2 * half}" height="${height}" rx="4"/>${textSvg(lines, middle, y - 6 + height / 2, 'small')}`;
    return { text, height: height + 16 };
  }
  const lines = wrap(step.text, Math.max(Math.abs(to - from) - 16, 150));
  const at = y + lines.length * lineHeight;
  const sign = Math.sign(to - from) || 1;
  const end = { x: to - 8 * sign, y: at };
  const line = `<path class="edge${step.dashed ? ' dashed' : ''}" d="M${from} ${at} H${end.x}"/>`;
  const words = textSvg(lines, (from + to) / 2, y + (lines.length * lineHeight) / 2 - 6, 'small');
  return { text: line + arrowHead(end, { x: from, y: at }) + words, height: lines.length * lineHeight + 18 };
}
